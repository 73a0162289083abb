import { EndpointError } from "./chain-errors.ts";
import type { RawLog } from "./log.ts";
import type { LogFilter } from "./log-filter.ts";
import { parseLogs } from "./parse-log.ts";

/** Every log of a block, from its receipts; `null` when the node does not have them (yet). */
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
