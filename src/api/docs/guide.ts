/** What holds for every endpoint, in short; `docs/http-api.md` has more. For people. */
import { webLimits } from "../../base/config/limits.ts";

/** Paragraphs are separated by empty lines; no markup. */
export type GuideSection = { readonly title: string; readonly text: string };

const { keyRequestsPerMinute, ipRequestsPerMinute } = webLimits;

export const guide: readonly GuideSection[] = [
  {
    title: "Authentication",
    text: `Send an API key in the header X-API-Key, or as Authorization: Bearer. A key has one scope: read, write or admin. Data needs \
any of them, keys and blocked IPs need admin; health, readiness and the documentation need none.`,
  },
  {
    title: "Limits",
    text: `Unless set otherwise, in any 60 seconds a key of scope read has ${grouped(keyRequestsPerMinute.read)} requests, write \
${grouped(keyRequestsPerMinute.write)}, admin ${grouped(keyRequestsPerMinute.admin)}, and an IP without a key \
${ipRequestsPerMinute}. X-RateLimit-Limit, -Remaining and -Reset are on every answer. Over the limit it is 429 with \
Retry-After; refused requests do not count. IPs that guess keys or flood are blocked for a time.`,
  },
  {
    title: "Formats",
    text: `JSON, snake_case. Prices, sizes and amounts are decimal strings with at most 6 fractional digits; \
counts, block numbers, seq and milliseconds are numbers. What is missing is null, never absent. Token ids are decimal \
strings; condition ids, addresses and hashes lower-case hex, upper case is accepted.

Times are taken as epoch seconds, epoch milliseconds (13 digits) or RFC 3339, and given as RFC 3339 and as \
milliseconds. start is inclusive, end exclusive. They are block times.

seq = block_number * 1,000,000 + log_index is the position on the chain: the same on every node, and after every \
re-index.

An unknown or repeated parameter, or a value out of range, is 400 and names the parameter; nothing is silently ignored.`,
  },
  {
    title: "Paging",
    text: `Lists answer with pagination.next_cursor, which is null on the last page. Send it as cursor, with the same \
parameters; only limit and format may change. Pages from the first to the last hold every row once, also while new rows arrive.`,
  },
  {
    title: "Files",
    text: `Trades, candles and the other lists of the chain take format: ndjson, csv, parquet or arrow. Without limit a file holds every row, up to the row \
cap of the service. X-Row-Cap, X-Row-Count and X-Rows-Truncated report before it begins what it will hold; X-Next-Cursor is \
the cursor for the rows that are left out. A file that breaks off has no end of its chunked body.`,
  },
  {
    title: "Freshness",
    text: `meta reports in every answer how fresh it is: the newest block indexed, the head of the chain, the newest \
block that no fork can revert, and the lag in seconds of chain time. Rows with status confirmed may still be taken \
back; finalized ones never change.`,
  },
  {
    title: "Errors",
    text: `Errors have one shape, with a code to decide by. A method that a path does not have is 405 with Allow, \
a path that does not exist 404. Every GET is also a HEAD. Retry what is 429, 5xx or 403 IP_BLOCKED: after Retry-After when it is there, \
else after 1000 ms, doubled on each attempt up to 60,000 ms; give up after 3 attempts.`,
  },
];

function grouped(count: number): string {
  return count.toLocaleString("en");
}
