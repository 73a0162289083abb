import type { TokenId } from "../base/ids.ts";
import { type BucketCandle, type Candle, candleOfMinute, mergeCandles } from "../market/candle.ts";
import { invertCandle } from "../market/invert.ts";
import { type MinuteCandle, minuteOf } from "../market/minute-candle.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import { type BucketRange, type CandleTotals, readStoredCandles } from "./read-stored-candles.ts";

/** A request for candles of a token, at its own prices. */
export type CandleRange = BucketRange & {
  /** The other token of the pair, whose inverted trades are included; `null` for the token's own trades only. */
  readonly complement: TokenId | null;
  /** Returns the totals of a token, which bound the minutes that have candles. */
  readonly totalsOf?: (tokenId: TokenId) => CandleTotals;
};

/** Reads the first `limit` buckets that hold a priced trade, in the requested order. */
export async function readCandles(
  store: IndexedFacts,
  range: CandleRange,
): Promise<readonly BucketCandle[]> {
  // All data in memory is taken before the first await, so that it belongs to one moment.
  const { coverage, headBuffer, engine } = store;
  const newest = [...headBuffer.openMinute, ...headBuffer.minutes()];
  const openFrom = minuteOf(coverage?.last.timestamp ?? 0);
  const sides = [{ tokenId: range.tokenId, report: (candle: Candle) => candle }];
  if (range.complement !== null) sides.push({ tokenId: range.complement, report: invertCandle });
  const tokens = sides.map(({ tokenId }) => ({ tokenId, totals: range.totalsOf?.(tokenId) }));
  store.reads.add("candles", "engine");
  // From `openFrom` on, the minutes of the engine are incomplete.
  const stored = await readStoredCandles(engine, range, { tokens, openFrom });
  const buckets = new Map<number, Candle>();
  for (const { tokenId, report } of sides) {
    const own = bucketsOf(newest, { ...range, tokenId });
    for (const { bucket, candle } of [...(stored.get(tokenId) ?? []), ...own]) {
      addTo(buckets, bucket, report(candle));
    }
  }
  const sign = range.order === "asc" ? 1 : -1;
  return [...buckets]
    .map(([bucket, candle]) => ({ bucket, candle }))
    .toSorted((a, b) => sign * (a.bucket - b.bucket))
    .slice(0, range.limit);
}

function bucketsOf(minutes: readonly MinuteCandle[], range: BucketRange): BucketCandle[] {
  return minutes.flatMap((minute) => {
    if (minute.tokenId !== range.tokenId) return [];
    const candle = candleOfMinute(minute);
    const bucket = minute.minute - (minute.minute % range.bucketSeconds);
    const isWithin = bucket >= range.from && bucket < range.to;
    return candle !== null && isWithin ? [{ bucket, candle }] : [];
  });
}

function addTo(buckets: Map<number, Candle>, bucket: number, candle: Candle): void {
  const known = buckets.get(bucket);
  buckets.set(bucket, known === undefined ? candle : mergeCandles(known, candle));
}
