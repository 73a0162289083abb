import { type Candle, mergeCandles } from "../../market/candle.ts";
import type { BucketCandle } from "../recent/recent-candles.ts";

/** Candles in the order of time as those of larger buckets; one may come in parts. */
export function sumUpCandles(
  candles: Iterable<BucketCandle>,
  bucketSeconds: number,
): BucketCandle[] {
  const sums: { readonly bucket: number; candle: Candle }[] = [];
  for (const { bucket: start, candle } of candles) {
    const bucket = start - (start % bucketSeconds);
    const last = sums.at(-1);
    if (last?.bucket === bucket) last.candle = mergeCandles(last.candle, candle);
    else sums.push({ bucket, candle });
  }
  return sums;
}
