import type { Address, Hash } from "../../base/ids.ts";
import { parseJson } from "../../base/json.ts";
import type { RawLog } from "../raw-log.ts";
import { type Literal, LogBytes, mismatch, toLiteral } from "./log-bytes.ts";
import { TextSource } from "./log-text.ts";
import { logsPerBlockMax, ParsedLogs } from "./parse-log.ts";
import type { Body } from "./response-body.ts";
import { ScannedLog } from "./scanned-log.ts";
import { StringTable } from "./string-table.ts";

/** In smaller answers, learning the layout of the logs does not pay off. */
const scannedBytesMin = 16 * 1024;
const listOfLogs = '"result":[{';
/** Replaces the logs while the rest is parsed. */
const placeholder = "the logs of this answer";

/**
 * Parses the JSON of an answer. In a large answer, the first list of logs becomes `ParsedLogs`, which own the body from
 * then on. Otherwise the body is released. `undefined` if it is not JSON.
 */
export function parseBody(body: Body, scannedMin = scannedBytesMin): unknown {
  const scanned = body.bytes.length < scannedMin ? undefined : parseAround(body);
  if (scanned !== undefined) return scanned;
  const value = tryParse(body.bytes.toString("utf8"));
  body.release();
  return value;
}

/** Parses an answer around its scanned logs; `undefined` when these are not the result of a call. */
function parseAround(body: Body): unknown {
  const { bytes } = body;
  const start = bytes.indexOf(listOfLogs);
  if (start === -1) return undefined;
  const bracket = start + listOfLogs.length - 2;
  const scan = scanLogs(body, bracket);
  if (scan === null) return undefined;
  const before = bytes.toString("utf8", 0, bracket);
  const after = bytes.toString("utf8", scan.end);
  // Without escapes, a string equals the placeholder only if its bytes do.
  if (isMisleading(before) || isMisleading(after)) return undefined;
  const value = tryParse(`${before}"${placeholder}"${after}`);
  return putLogs(value, scan.logs) ? value : undefined;
}

/** Puts the logs in place of the placeholder if it is the result of a call, and not a deeper member of that name. */
function putLogs(value: unknown, logs: ParsedLogs): boolean {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  for (const item of items) {
    const isReply = typeof item === "object" && item !== null && "result" in item;
    if (!isReply || item.result !== placeholder) continue;
    item.result = logs;
    return true;
  }
  return false;
}

function tryParse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function isMisleading(text: string): boolean {
  return text.includes("\\") || text.includes(placeholder);
}

// Reads the logs of an `eth_getLogs` from the bytes of an answer. A node writes all logs of an answer in one layout,
// which is learned from the first log. Anything unexpected is left to `JSON.parse`.

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
function scanLogs(
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

/** The members of a JSON log, in the order in which a node writes them. */
type LogLayout = {
  readonly members: readonly { readonly name: MemberName; readonly lead: Literal }[];
  /** The text after the last value. */
  readonly tail: Literal;
};

/** How each value opens, up to the part that differs between logs, and how it closes. */
const forms = {
  address: ['"', '"'],
  topics: ['["', '"]'],
  data: ['"', '"'],
  blockNumber: ['"', '"'],
  blockHash: ['"', '"'],
  transactionHash: ['"', '"'],
  transactionIndex: ['"', '"'],
  logIndex: ['"', '"'],
  blockTimestamp: ['"', '"'],
  removed: ["false", ""],
} as const;

type MemberName = keyof typeof forms;

const optional: ReadonlySet<string> = new Set(["blockTimestamp", "removed"]);
const required = Object.keys(forms).filter((name) => !optional.has(name));
/** How many bytes to look at: enough for events with kilobytes of data. */
const logBytesMax = 64 * 1024;

/** Learns the layout of the log at `start`; `null` when it has white space, unusual members or unusual types. */
function learnLayout(body: Buffer, start: number): LogLayout | null {
  const text = body.toString("latin1", start, start + logBytesMax);
  const member = /([{,])"(\w+)":("[^"\\]*"|\["[^\\\]]*"\]|false)/y;
  const members: { name: MemberName; lead: Literal }[] = [];
  let end = "";
  let endAt = 0;
  let match = member.exec(text);
  for (; match !== null; match = member.exec(text)) {
    const [, mark = "", name = "", value = ""] = match;
    const isFirst = members.length === 0;
    if (isFirst !== (mark === "{") || !isMember(name)) return null;
    if (members.some((before) => before.name === name)) return null;
    const [open, close] = forms[name];
    if (!value.startsWith(open)) return null;
    members.push({ name, lead: toLiteral(`${end}${mark}"${name}":${open}`) });
    end = close;
    endAt = member.lastIndex;
  }
  if (text[endAt] !== "}") return null;
  const hasAll = required.every((name) => members.some((one) => one.name === name));
  return hasAll ? { members, tail: toLiteral(`${end}}`) } : null;
}

function isMember(name: string): name is MemberName {
  return Object.hasOwn(forms, name);
}
