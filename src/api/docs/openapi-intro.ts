/** The introduction of the API reference, in Markdown: rules of every endpoint. `docs/http-api.md` has more. */
import { webLimits } from "../../base/config/limits.ts";
import { type ErrorCode, errorTable } from "../../base/errors.ts";

const { keyRequestsPerMinute, ipRequestsPerMinute } = webLimits;

const errorRows = (Object.keys(errorTable) as ErrorCode[]).map((code) => {
  const { status, message, retryable } = errorTable[code];
  return `| ${status} | \`${code}\` | ${message} | ${retryable ? "yes" : "no"} |`;
});

export const guide = `Trades, prices, candles, markets and resolutions of on-chain prediction markets.

## Authentication

Send an API key in the header \`X-API-Key\`, or as \`Authorization: Bearer <key>\`. A key has one scope: \`read\`, \`write\` or \`admin\`. \
Data needs a key of any scope. Managing keys and IP blocks needs an admin key. Health, readiness and this reference need none.

## Rate limits

| caller | requests in any 60 seconds |
|---|---|
| read key | ${grouped(keyRequestsPerMinute.read)} |
| write key | ${grouped(keyRequestsPerMinute.write)} |
| admin key | ${grouped(keyRequestsPerMinute.admin)} |
| IP without a key | ${grouped(ipRequestsPerMinute)} |

The operator can change these limits. Every response has yours in \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \
\`X-RateLimit-Reset\`. Over the limit, the response is 429 with \`Retry-After\`; refused requests do not count. IPs that guess keys or \
flood the service are blocked for a time.

## Values

- Prices, sizes and amounts are decimal strings with at most 6 fractional digits. Counts, block numbers, \`seq\` and milliseconds are numbers.
- A missing value is \`null\`, never an absent field.
- Token ids are decimal strings. Condition ids, addresses and hashes are lower-case hex; upper case is accepted.
- Times are accepted as epoch seconds, epoch milliseconds (13 digits), RFC 3339 or a date (midnight UTC). They are returned as RFC 3339 and as milliseconds, and are block \
times. \`start\` is inclusive, \`end\` exclusive.
- \`seq = block_number * 1,000,000 + log_index\` is the position on the chain. It is the same on every node and after every re-index.
- An unknown or repeated parameter, or an invalid value, is 400 and named. Nothing is silently ignored.

## Paging

Lists return \`pagination.next_cursor\`, which is \`null\` on the last page. Send it as \`cursor\` with the same parameters; only \`limit\`, \
\`format\` and \`min_seq\` may change. From the first page to the last every row comes once, even while new rows arrive.

## Exports

Markets, trades, candles and the other lists of the chain accept \`format\`: \`ndjson\`, \`csv\`, \`parquet\` or \`arrow\`. Without \`limit\` an \
export has every row, up to the row cap of the service. \`X-Row-Cap\`, \`X-Row-Count\` and \`X-Rows-Truncated\` describe it before the body starts; \
\`X-Next-Cursor\` continues after the cap. An export that fails midway resets the connection, so clients see an error.

## Freshness

\`meta\` reports the first indexed block, before which nothing is known, the newest indexed block, the head of the chain, the newest block that cannot be reverted, and the lag in seconds of chain time. Rows \
with status \`confirmed\` can still be reverted; \`finalized\` rows never change.

## Errors

Every error has the same shape. Decide by \`code\`. \`details\` names the parameters at fault.

| status | code | meaning | retry |
|---|---|---|---|
${errorRows.join("\n")}

Retry after the seconds in \`Retry-After\`. Without that header wait 1000 ms, doubled on each attempt up to 60,000 ms, for 3 attempts. \
Every GET endpoint also answers HEAD.
`;

function grouped(count: number): string {
  return count.toLocaleString("en");
}
