import type { TokenId } from "../base/ids.ts";
import { type BucketCandle, type Candle, mergeBuckets } from "../market/candle.ts";
import { invertCandle } from "../market/invert.ts";
import { type MinuteCandle, toMinute } from "../market/minute-candle.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import type { JoinedTokens } from "./markets/read-markets.ts";
import { type BucketRange, readStoredCandles } from "./read-stored-candles.ts";

/** A request for candles of one outcome. */
export type CandleRange = BucketRange & JoinedTokens;

/** Reads the first `limit` buckets that hold a priced trade, in the requested order. */
export async function readCandles(
  facts: IndexedFacts,
  range: CandleRange,
): Promise<readonly BucketCandle[]> {
  const [candles = []] = await readManyCandles(facts, range, [range]);
  return candles;
}

/** Reads the candles of each outcome as `readCandles` does, with a few queries for any number of them. */
export async function readManyCandles(
  facts: IndexedFacts,
  range: BucketRange,
  outcomes: readonly JoinedTokens[],
): Promise<readonly (readonly BucketCandle[])[]> {
  // All data in memory is taken before the first await, so that it belongs to one moment.
  const { coverage, headBuffer, engine } = facts;
  const newest = Map.groupBy(headBuffer.minutes(), ({ tokenId }) => tokenId);
  const openFrom = toMinute(coverage?.last.timestamp ?? 0);
  const tokenIds = [...new Set(outcomes.flatMap(({ same, inverted }) => [...same, ...inverted]))];
  facts.reads.add("candles", "engine");
  // From `openFrom` on, the minutes of the engine are incomplete.
  const stored = await readStoredCandles(engine, range, { tokenIds, openFrom });
  const getParts = (tokenIds: readonly TokenId[], report: (candle: Candle) => Candle) =>
    tokenIds
      .flatMap((id) => [...(stored.get(id) ?? []), ...toBuckets(newest.get(id) ?? [], range)])
      .map(({ bucket, candle }) => ({ bucket, candle: report(candle) }));
  return outcomes.map(({ same, inverted }) => {
    const parts = [...getParts(same, (candle) => candle), ...getParts(inverted, invertCandle)];
    return mergeBuckets(parts, range.order).slice(0, range.limit);
  });
}

function toBuckets(minutes: readonly MinuteCandle[], range: BucketRange): BucketCandle[] {
  return minutes.flatMap(({ minute, candle }) => {
    const bucket = minute - (minute % range.bucketSeconds);
    return bucket >= range.from && bucket < range.to ? [{ bucket, candle }] : [];
  });
}
