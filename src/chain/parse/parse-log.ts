import { type Hash, parseAddress, parseHash } from "../../base/ids.ts";
import { EndpointError } from "../chain-errors.ts";
import type { RawLog } from "../raw-log.ts";
import type { LogFilter } from "../verify/log-filter.ts";
import { parseBytes, parseQuantity } from "./parse-hex.ts";
import { getTopic0, ScannedLog } from "./scanned-log.ts";

/** Well-formed logs, in the order of the answer. */
export class ParsedLogs {
  readonly logs: readonly RawLog[];
  readonly #logs: RawLog[];
  readonly #onRelease: () => void;

  constructor(logs: RawLog[], onRelease: () => void = () => {}) {
    this.#logs = logs;
    this.logs = logs;
    this.#onRelease = onRelease;
  }

  /**
   * Releases the response and empties the list, which would otherwise live until the next full garbage collection.
   * Optional.
   */
  release(): void {
    this.#logs.length = 0;
    this.#onRelease();
  }
}

type LogJson = Readonly<Record<keyof RawLog | "transactionHash" | "transactionIndex", unknown>> & {
  readonly removed?: unknown;
  readonly blockTimestamp?: unknown;
};

/** Positions must fit into `seq` (base/ids.ts), which has room for a million logs in a block. */
export const logsPerBlockMax = 1_000_000;

/**
 * Parses a list of logs, unless `parse-body.ts` has parsed it already. Checks the form of each log; `check-logs.ts`
 * checks them together. Throws a `malformed` `EndpointError`, also for a `removed` log.
 */
export function parseLogs(value: unknown): ParsedLogs {
  if (value instanceof ParsedLogs) return value;
  if (!Array.isArray(value)) throw new EndpointError("malformed", "logs are not a list");
  return new ParsedLogs((value as readonly unknown[]).map(parseLog));
}

function parseLog(item: unknown): RawLog {
  if (typeof item !== "object" || item === null) {
    throw new EndpointError("malformed", "a log is not an object");
  }
  const json = item as LogJson;
  const address = parseAddress(json.address);
  const blockHash = parseHash(json.blockHash);
  const txHash = parseHash(json.transactionHash);
  const topics = parseTopics(json.topics);
  const data = parseBytes(json.data);
  const blockNumber = parseQuantity(json.blockNumber);
  const txIndex = parseQuantity(json.transactionIndex);
  const logIndex = parseQuantity(json.logIndex);
  if (
    address === null ||
    blockHash === null ||
    txHash === null ||
    topics === null ||
    data === null ||
    blockNumber === null ||
    txIndex === null ||
    logIndex === null ||
    logIndex >= logsPerBlockMax
  ) {
    throw new EndpointError("malformed", "a log lacks a field or has an invalid one");
  }
  if (json.removed === true) throw new EndpointError("malformed", "a log is marked as removed");
  const timestamp = parseQuantity(json.blockTimestamp);
  return { address, topics, data, blockNumber, blockHash, timestamp, txHash, txIndex, logIndex };
}

function parseTopics(value: unknown): Hash[] | null {
  if (!Array.isArray(value) || value.length > 4) return null;
  const topics = (value as readonly unknown[]).map(parseHash);
  return topics.every((topic) => topic !== null) ? topics : null;
}

/** Whether the log passes the filter. */
export function isRequested(log: Pick<RawLog, "address" | "topics">, filter: LogFilter): boolean {
  const topic0 = getTopic0(log);
  const isEmitter = filter.addresses.has(log.address) || filter.named.has(log.address);
  return topic0 !== undefined && isEmitter && filter.topics0.has(topic0);
}

/** All logs of a block: the requested ones, and of every log what it adds to the bloom. */
export type AllLogs = {
  readonly requested: readonly RawLog[];
  readonly all: readonly Pick<RawLog, "address" | "topics">[];
};

/**
 * Parses all logs of a block, in the order of the block. Only requested logs must be valid, with an index that has room
 * for the logs before it: nodes number the logs of other contracts, such as those of state-sync transactions, in ways
 * of their own, and some count from 0 in each receipt. Throws a `malformed` `EndpointError`.
 */
export function parseAllLogs(items: readonly unknown[], filter: LogFilter): AllLogs {
  const requested: RawLog[] = [];
  const all: AllLogs["all"][number][] = [];
  for (const [index, item] of items.entries()) {
    const json = (typeof item === "object" && item !== null ? item : {}) as Partial<LogJson>;
    const address = parseAddress(json.address);
    const topics = parseTopics(json.topics);
    if (address === null || topics === null) continue;
    all.push({ address, topics });
    if (!isRequested({ address, topics }, filter)) continue;
    const log = item instanceof ScannedLog ? item : parseLog(item);
    if (log.logIndex < index) {
      throw new EndpointError("malformed", `log ${log.logIndex} of a block has ${index} before it`);
    }
    requested.push(log);
  }
  return { requested, all };
}

/** Returns the logs in receipts, without checking them. A receipt without logs, or none, adds nothing. */
export function logsInReceipts(receipts: unknown): readonly unknown[] {
  return getList(receipts).flatMap((receipt) => getList(findMember(receipt, "logs")));
}

/** Returns the hashes of a block's transactions; none where there is no list. */
export function parseTransactionHashes(block: unknown): readonly Hash[] {
  const items = getList(findMember(block, "transactions"));
  return items.flatMap((item) => parseHash(item) ?? parseHash(findMember(item, "hash")) ?? []);
}

function getList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function findMember(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
