import { type Hash, parseHash } from "../../base/ids.ts";
import { EndpointError } from "../chain-errors.ts";
import type { RawLog } from "../raw-log.ts";
import type { LogFilter } from "./log-filter.ts";
import { parseLogs } from "./parse-log.ts";

/** Parses all logs of a block from its receipts; `null` when the node does not have them (yet). */
export function parseReceiptLogs(value: unknown, filter: LogFilter): readonly RawLog[] | null {
  if (value === null) return null;
  if (!Array.isArray(value)) throw new EndpointError("malformed", "receipts are no list");
  return (value as readonly unknown[]).flatMap((receipt) => {
    if (typeof receipt !== "object" || receipt === null || !("logs" in receipt)) {
      throw new EndpointError("malformed", "a receipt has no logs");
    }
    return parseLogs(receipt.logs, filter).logs;
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
