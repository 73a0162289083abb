/**
 * Reads the logs of an `eth_getLogs` from the bytes of an answer. A node writes all logs of an answer in one layout,
 * which is learnt from the first log. Anything unexpected is left to `JSON.parse`.
 */
import type { Address, Hash } from "../../base/ids.ts";
import type { RawLog } from "../raw-log.ts";
import type { Body } from "../rpc/response-body.ts";
import { LogBytes, literalOf, mismatch, nothingBefore, type TextAt } from "./log-bytes.ts";
import { type LogLayout, learnLayout } from "./log-layout.ts";
import { TextSource } from "./log-text.ts";
import { logsPerBlockMax, ParsedLogs } from "./parse-log.ts";
import { ScannedLog } from "./scanned-log.ts";

const comma = 0x2c;
const bracket = 0x5d;
const betweenTopics = literalOf('","');

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
  try {
    return new LogScan(body, start + 1, layout).run();
  } catch (thrown) {
    if (thrown === mismatch) return null;
    throw thrown;
  }
}

/** Reads one member after the other into its fields, which until then have the value of the previous log. */
class LogScan {
  readonly #body: Body;
  readonly #source: TextSource;
  readonly #bytes: LogBytes;
  readonly #layout: LogLayout;
  /** Contracts and kinds of events are few, so all logs of an answer share these strings. */
  readonly #addresses = new Map<number, TextAt>();
  readonly #topics0 = new Map<number, TextAt>();
  #address = "";
  #topic0 = "";
  #topicsAt = 0;
  #topicCount = 0;
  #dataAt = 0;
  #dataEnd = 0;
  #blockHash = nothingBefore;
  #txHash = nothingBefore;
  #blockNumber = 0;
  #timestamp = 0;
  #txIndex = 0;
  #logIndex = 0;

  constructor(body: Body, start: number, layout: LogLayout) {
    this.#body = body;
    this.#source = new TextSource(body.bytes);
    this.#bytes = new LogBytes(body.bytes, start);
    this.#layout = layout;
  }

  run(): { logs: ParsedLogs; end: number } {
    const bytes = this.#bytes;
    const { members, tail, hasTimes } = this.#layout;
    const logs: RawLog[] = [];
    const timestamps: number[] = [];
    for (let mark = comma; mark !== bracket; mark = bytes.next()) {
      if (mark !== comma) throw mismatch;
      for (const { name, lead } of members) {
        bytes.expect(lead);
        this.#readMember(name);
      }
      bytes.expect(tail);
      logs.push(this.#log());
      if (hasTimes) timestamps.push(this.#timestamp);
    }
    const source = this.#source;
    const body = this.#body;
    const release = (): void => {
      source.close();
      body.release();
    };
    const parsed = new ParsedLogs(logs, hasTimes ? timestamps : null, release);
    return { logs: parsed, end: bytes.at };
  }

  #readMember(name: LogLayout["members"][number]["name"]): void {
    const bytes = this.#bytes;
    switch (name) {
      case "address":
        this.#address = bytes.readOneOf(42, this.#addresses);
        return;
      case "topics":
        this.#readTopics();
        return;
      case "data":
        this.#dataAt = bytes.at;
        bytes.skipData();
        this.#dataEnd = bytes.at;
        return;
      case "blockHash":
        this.#blockHash = bytes.readText(66, this.#blockHash);
        return;
      case "transactionHash":
        this.#txHash = bytes.readText(66, this.#txHash);
        return;
      case "blockNumber":
        this.#blockNumber = bytes.readQuantity();
        return;
      case "blockTimestamp":
        this.#timestamp = bytes.readQuantity();
        return;
      case "transactionIndex":
        this.#txIndex = bytes.readQuantity();
        return;
      case "logIndex":
        this.#logIndex = bytes.readQuantity();
        if (this.#logIndex >= logsPerBlockMax) throw mismatch;
        return;
      case "removed": // its whole value is part of the lead
    }
  }

  #readTopics(): void {
    const bytes = this.#bytes;
    this.#topicsAt = bytes.at;
    this.#topic0 = bytes.readOneOf(66, this.#topics0);
    let count = 1;
    for (; bytes.skip(betweenTopics); count += 1) {
      if (count === 4) throw mismatch;
      bytes.skipHex(66);
    }
    this.#topicCount = count;
  }

  #log(): ScannedLog {
    return new ScannedLog({
      address: this.#address as Address,
      topic0: this.#topic0 as Hash,
      blockNumber: this.#blockNumber,
      blockHash: this.#blockHash.text as Hash,
      txHash: this.#txHash.text as Hash,
      txIndex: this.#txIndex,
      logIndex: this.#logIndex,
      source: this.#source,
      topicCount: this.#topicCount,
      topicsAt: this.#topicsAt,
      dataAt: this.#dataAt,
      dataEnd: this.#dataEnd,
    });
  }
}
