import { type BucketCandle, type Candle, mergeBuckets } from "../market/candle.ts";
import { invertCandle } from "../market/invert.ts";
import { type MinuteCandle, toMinute } from "../market/minute-candle.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import type { JoinedTokens } from "./markets/read-markets.ts";
import { type BucketRange, readStoredCandles } from "./read-stored-candles.ts";

/** A request for candles of one outcome. */
export type CandleRange = Omit<BucketRange, "tokenId"> & JoinedTokens;

/** Reads the first `limit` buckets that hold a priced trade, in the requested order. */
export async function readCandles(
  facts: IndexedFacts,
  range: CandleRange,
): Promise<readonly BucketCandle[]> {
  // All data in memory is taken before the first await, so that it belongs to one moment.
  const { coverage, headBuffer, engine } = facts;
  const newest = headBuffer.minutes();
  const openFrom = toMinute(coverage?.last.timestamp ?? 0);
  const sides = [
    ...range.same.map((tokenId) => ({ tokenId, report: (candle: Candle) => candle })),
    ...range.inverted.map((tokenId) => ({ tokenId, report: invertCandle })),
  ];
  facts.reads.add("candles", "engine");
  // From `openFrom` on, the minutes of the engine are incomplete.
  const tokenIds = sides.map(({ tokenId }) => tokenId);
  const stored = await readStoredCandles(engine, range, { tokenIds, openFrom });
  const parts = sides.flatMap(({ tokenId, report }) => {
    const own = toBuckets(newest, { ...range, tokenId });
    return [...(stored.get(tokenId) ?? []), ...own].map(({ bucket, candle }) => {
      return { bucket, candle: report(candle) };
    });
  });
  return mergeBuckets(parts, range.order).slice(0, range.limit);
}

function toBuckets(minutes: readonly MinuteCandle[], range: BucketRange): BucketCandle[] {
  return minutes.flatMap(({ tokenId, minute, candle }) => {
    if (tokenId !== range.tokenId) return [];
    const bucket = minute - (minute % range.bucketSeconds);
    return bucket >= range.from && bucket < range.to ? [{ bucket, candle }] : [];
  });
}
