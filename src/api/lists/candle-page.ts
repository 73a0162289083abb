import type { TokenId } from "../../base/ids.ts";
import type { Range } from "../../base/range.ts";
import type { BucketCandle } from "../../market/candle.ts";
import { readCandles } from "../../query/read-candles.ts";
import type { CandleTotals } from "../../query/read-stored-candles.ts";
import { type CandleRow, presentCandle, presentFilledCandle } from "../../rows/candle-row.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";

/** A page of candles: bucket starts in Unix seconds, `from` inclusive, `to` exclusive. */
export type CandlePage = Range<number> & {
  readonly tokenId: TokenId;
  readonly complement: TokenId | null;
  readonly bucketSeconds: number;
  readonly order: "asc" | "desc";
  readonly limit: number;
  /** Whether a bucket without trades gets a candle at the previous close. */
  readonly fillForward: boolean;
  readonly totalsOf: (tokenId: TokenId) => CandleTotals;
  /** Time of the newest block, Unix seconds. Buckets that end at or before it are closed. */
  readonly now: number;
};

/** Returns the bucket of the first priced trade of either token, Unix seconds; `null` without one. */
export function firstBucketOf(
  page: Pick<CandlePage, "tokenId" | "complement" | "bucketSeconds" | "totalsOf">,
): number | null {
  const { tokenId, complement, bucketSeconds, totalsOf } = page;
  const firsts = [tokenId, complement ?? tokenId].flatMap((id) => totalsOf(id).firstMinute ?? []);
  if (firsts.length === 0) return null;
  const first = Math.min(...firsts);
  return first - (first % bucketSeconds);
}

/** The rows of a page in its order. `edge` is the bucket of the last row if more rows follow, otherwise `null`. */
type CandleRows = { readonly rows: readonly CandleRow[]; readonly edge: number | null };

/** Reads a page of candles. */
export async function readCandlePage(facts: IndexedFacts, page: CandlePage): Promise<CandleRows> {
  if (page.fillForward) return readFilledPage(facts, page);
  const found = await readCandles(facts, { ...page, limit: page.limit + 1 });
  const rows = found.slice(0, page.limit).map((one) => presentCandle(one, isClosed(one, page)));
  return pageRows(rows, found.length > page.limit);
}

function pageRows(rows: readonly CandleRow[], hasMore: boolean): CandleRows {
  const last = hasMore ? rows.at(-1) : undefined;
  return { rows, edge: last === undefined ? null : last.timestamp_ms / 1000 };
}

/** Reads every bucket of the page, with or without trades, from the first trade to the open bucket. */
async function readFilledPage(facts: IndexedFacts, page: CandlePage): Promise<CandleRows> {
  const { bucketSeconds, order, limit, now } = page;
  const first = firstBucketOf(page);
  if (first === null) return pageRows([], false);
  const lowest = Math.max(page.from, first);
  const highest = Math.min(page.to, now - (now % bucketSeconds) + bucketSeconds);
  const span = limit * bucketSeconds;
  const from = order === "asc" ? lowest : Math.max(lowest, highest - span);
  const to = order === "asc" ? Math.min(highest, lowest + span) : highest;
  const { traded, before } = await readTraded(facts, { ...page, from, to });
  const rows = fillForward({ page, from, to }, traded, before);
  return order === "asc"
    ? pageRows(rows, to < highest)
    : pageRows(rows.toReversed(), from > lowest);
}

/** Reads the candles of a range of at most `limit` buckets, and the candle before them. */
async function readTraded(
  facts: IndexedFacts,
  page: CandlePage,
): Promise<{ traded: readonly BucketCandle[]; before: BucketCandle | undefined }> {
  const { from, to, now, limit } = page;
  if (to > now) {
    // One query without bounds also finds the candle before the newest page.
    const endless = { from: 0, to: Number.MAX_SAFE_INTEGER, order: "desc" } as const;
    const newest = await readCandles(facts, { ...page, ...endless, limit: limit + 1 });
    const traded = newest.filter(({ bucket }) => bucket >= from);
    return { traded, before: newest[traded.length] };
  }
  const traded = await readCandles(facts, { ...page, order: "asc" });
  const one = { from: 0, to: from, order: "desc", limit: 1 } as const;
  const [before] = await readCandles(facts, { ...page, ...one });
  return { traded, before };
}

function fillForward(
  { page, from, to }: { page: CandlePage; from: number; to: number },
  traded: readonly BucketCandle[],
  before: BucketCandle | undefined,
): CandleRow[] {
  const byBucket = new Map(traded.map((one) => [one.bucket, one]));
  const rows: CandleRow[] = [];
  let price = before?.candle.close.price;
  for (let bucket = from; bucket < to; bucket += page.bucketSeconds) {
    const one = byBucket.get(bucket);
    price = one?.candle.close.price ?? price;
    const closed = isClosed({ bucket }, page);
    if (one !== undefined) rows.push(presentCandle(one, closed));
    else if (price !== undefined) rows.push(presentFilledCandle({ bucket, price }, closed));
  }
  return rows;
}

function isClosed({ bucket }: { bucket: number }, { bucketSeconds, now }: CandlePage): boolean {
  return bucket + bucketSeconds <= now;
}
