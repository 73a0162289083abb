/**
 * Reads the logs of an `eth_getLogs` from the bytes of an answer. A node writes all logs of an answer in one layout,
 * which is learned from the first log. Anything unexpected is left to `JSON.parse`.
 */
import type { Address, Hash } from "../../base/ids.ts";
import type { RawLog } from "../raw-log.ts";
import { LogBytes, mismatch, toLiteral } from "./log-bytes.ts";
import { learnLayout, type MemberName } from "./log-layout.ts";
import { TextSource } from "./log-text.ts";
import { logsPerBlockMax, ParsedLogs } from "./parse-log.ts";
import type { Body } from "./response-body.ts";
import { ScannedLog } from "./scanned-log.ts";
import { StringTable } from "./string-table.ts";

const comma = 0x2c;
const bracket = 0x5d;
const betweenTopics = toLiteral('","');

/** Contracts and kinds of events are few. Hashes of blocks and transactions repeat in the logs that follow. */
const addresses = new StringTable({ digits: 40, slotBits: 10 });
const topics0 = new StringTable({ digits: 64, slotBits: 10 });
const hashes = new StringTable({ digits: 64, slotBits: 6 });

/**
 * Reads the list of logs whose bracket is at `start`. Returns the logs and the end of the list; `null` when the list is
 * empty or has an unusual layout. The logs refer to the body until they are released.
 */
export function scanLogs(
  body: Body,
  start: number,
): { readonly logs: ParsedLogs; readonly end: number } | null {
  const layout = learnLayout(body.bytes, start + 1);
  if (layout === null) return null;
  const source = new TextSource(body);
  const bytes = new LogBytes(body.bytes, start + 1);
  const logs: RawLog[] = [];
  try {
    for (let mark = comma; mark !== bracket; mark = bytes.next()) {
      if (mark !== comma) throw mismatch;
      const log = new ScannedLog(source);
      for (const { name, lead } of layout.members) {
        bytes.expect(lead);
        readMember(bytes, name, log);
      }
      bytes.expect(layout.tail);
      logs.push(log);
    }
  } catch (thrown) {
    if (thrown === mismatch) return null;
    throw thrown;
  }
  return { logs: new ParsedLogs(logs, () => source.close()), end: bytes.at };
}

function readMember(bytes: LogBytes, name: MemberName, log: ScannedLog): void {
  switch (name) {
    case "address":
      log.address = bytes.readText(addresses) as Address;
      return;
    case "topics":
      readTopics(bytes, log);
      return;
    case "data":
      log.dataAt = bytes.at;
      bytes.skipData();
      log.dataEnd = bytes.at;
      return;
    case "blockHash":
      log.blockHash = bytes.readText(hashes) as Hash;
      return;
    case "transactionHash":
      log.txHash = bytes.readText(hashes) as Hash;
      return;
    case "blockNumber":
      log.blockNumber = bytes.readQuantity();
      return;
    case "blockTimestamp":
      log.timestamp = bytes.readQuantity();
      return;
    case "transactionIndex":
      log.txIndex = bytes.readQuantity();
      return;
    case "logIndex":
      log.logIndex = bytes.readQuantity();
      if (log.logIndex >= logsPerBlockMax) throw mismatch;
      return;
    case "removed": // its whole value is part of the lead
  }
}

function readTopics(bytes: LogBytes, log: ScannedLog): void {
  log.topicsAt = bytes.at;
  log.topic0 = bytes.readText(topics0) as Hash;
  for (log.topicCount = 1; bytes.skip(betweenTopics); log.topicCount += 1) {
    if (log.topicCount === 4) throw mismatch;
    bytes.skipHex(66);
  }
}
