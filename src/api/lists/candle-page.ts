import type { TokenId } from "../../base/ids.ts";
import type { Range } from "../../base/range.ts";
import { type BucketCandle, flatCandle } from "../../market/candle.ts";
import type { JoinedTokens } from "../../query/markets/read-markets.ts";
import { readCandles } from "../../query/read-candles.ts";
import type { CandleTotals } from "../../query/read-stored-candles.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";

/** A page of candles: bucket starts in Unix seconds, `from` inclusive, `to` exclusive. */
export type CandlePage = Range<number> &
  JoinedTokens & {
    readonly bucketSeconds: number;
    readonly order: "asc" | "desc";
    readonly limit: number;
    /** Whether a bucket without trades gets a candle at the previous close, of 0 trades. */
    readonly fillForward: boolean;
    readonly getTotals: (tokenId: TokenId) => CandleTotals;
    /** Time of the newest block, Unix seconds. Buckets that end at or before it are closed. */
    readonly now: number;
  };

/** Returns the bucket of the first priced trade of its tokens, Unix seconds; `null` without one. */
export function getFirstBucket(
  page: Pick<CandlePage, keyof JoinedTokens | "bucketSeconds" | "getTotals">,
): number | null {
  const { same, inverted, bucketSeconds, getTotals } = page;
  const firsts = [...same, ...inverted].flatMap((id) => getTotals(id).firstMinute ?? []);
  if (firsts.length === 0) return null;
  const first = Math.min(...firsts);
  return first - (first % bucketSeconds);
}

/** Returns the part of a page that follows a bucket. */
export function pageAfter(page: CandlePage, bucket: number): CandlePage {
  return page.order === "asc"
    ? { ...page, from: Math.max(page.from, bucket + page.bucketSeconds) }
    : { ...page, to: Math.min(page.to, bucket) };
}

/** Reads the first `limit` candles of a page, in its order. */
export async function readCandlePage(
  facts: IndexedFacts,
  page: CandlePage,
): Promise<readonly BucketCandle[]> {
  return page.fillForward ? readFilledPage(facts, page) : readCandles(facts, page);
}

/** Reads every bucket of the page, with or without trades, from the first trade to the open bucket. */
async function readFilledPage(
  facts: IndexedFacts,
  page: CandlePage,
): Promise<readonly BucketCandle[]> {
  const { bucketSeconds, order, limit, now } = page;
  const first = getFirstBucket(page);
  if (first === null) return [];
  const lowest = Math.max(page.from, first);
  const highest = Math.min(page.to, now - (now % bucketSeconds) + bucketSeconds);
  const seconds = limit * bucketSeconds;
  const from = order === "asc" ? lowest : Math.max(lowest, highest - seconds);
  const to = order === "asc" ? Math.min(highest, lowest + seconds) : highest;
  // The range has at most `limit` buckets, so these candles include the one before it, if there is one.
  const newest = { from: 0, to, order: "desc", limit: limit + 1 } as const;
  const candles = await readCandles(facts, { ...page, ...newest });
  const filled = fillForward({ ...page, from, to }, candles);
  return order === "asc" ? filled : filled.toReversed();
}

/** Returns a candle for each bucket of a range, from the first with a price on. `candles` are newest first. */
function fillForward(
  { from, to, bucketSeconds }: CandlePage,
  candles: readonly BucketCandle[],
): BucketCandle[] {
  const byBucket = new Map(candles.map((one) => [one.bucket, one]));
  const filled: BucketCandle[] = [];
  let newest = candles.find(({ bucket }) => bucket < from);
  for (let bucket = from; bucket < to; bucket += bucketSeconds) {
    newest = byBucket.get(bucket) ?? (newest && { bucket, candle: flatCandle(newest.candle) });
    if (newest !== undefined) filled.push(newest);
  }
  return filled;
}
