import type { Candle } from "../../../clients/typescript/src/api.ts";
import type { Bucket } from "./buckets.ts";

/** Inverts buckets to the prices of the other outcome (1 - p). */
export function invertBuckets(buckets: readonly Bucket[]): readonly Bucket[] {
  return buckets.map((bucket) => ({
    ...bucket,
    close: bucket.close === null ? null : 1 - bucket.close,
    candle: bucket.candle === null ? null : invertCandle(bucket.candle),
  }));
}

function invertCandle(candle: Candle): Candle {
  const { open, high, low, close } = candle;
  return {
    ...candle,
    open: inverted(open),
    high: inverted(low),
    low: inverted(high),
    close: inverted(close),
  };
}

function inverted(price: string): string {
  return String(Number((1 - Number(price)).toFixed(6)));
}
