import { type Hash, parseAddress, parseHash } from "../../base/ids.ts";
import { EndpointError } from "../chain-errors.ts";
import type { RawLog } from "../raw-log.ts";
import type { LogFilter } from "./log-filter.ts";
import { parseBytes, parseQuantity } from "./parse-hex.ts";
import { topic0Of } from "./scanned-log.ts";

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
   * Releases the answer and empties the list. Otherwise the call that waited for the answer, which is in the old
   * generation by then, would keep the logs until a full collection. Optional.
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
 * Parses a list of logs, unless `scan-logs.ts` has parsed it already. Checks the form of each log; `check-logs.ts`
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
export function isWanted(log: RawLog, filter: LogFilter): boolean {
  const topic0 = topic0Of(log);
  return topic0 !== undefined && filter.addresses.has(log.address) && filter.topics0.has(topic0);
}

/** Parses all logs of a block from its receipts; `null` when the node does not have them (yet). */
export function parseReceiptLogs(value: unknown): readonly RawLog[] | null {
  if (value === null) return null;
  if (!Array.isArray(value)) throw new EndpointError("malformed", "receipts are not a list");
  return (value as readonly unknown[]).flatMap((receipt) => {
    if (typeof receipt !== "object" || receipt === null || !("logs" in receipt)) {
      throw new EndpointError("malformed", "a receipt has no logs");
    }
    return parseLogs(receipt.logs).logs;
  });
}

/** Parses the transaction hashes of a block; `null` when the node does not have the block (yet). */
export function parseTransactionHashes(value: unknown): readonly Hash[] | null {
  if (value === null) return null;
  const isBlock = typeof value === "object" && "transactions" in value;
  const hashes = isBlock && Array.isArray(value.transactions) ? value.transactions : [null];
  return (hashes as readonly unknown[]).map((item) => {
    const hash = parseHash(item);
    if (hash === null) throw new EndpointError("malformed", "a block has no transaction hashes");
    return hash;
  });
}
