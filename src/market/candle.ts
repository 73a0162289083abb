/**
 * Candles over any time range, and how they merge. Merging is exact and independent of order, so candles of any
 * resolution are exact roll-ups of minutes.
 */

import { priceMicros } from "../base/decimal.ts";
import type { MinuteCandle, Tick } from "./minute-candle.ts";

/** The resolutions of candles, in seconds. */
export const resolutionSeconds = {
  "1m": 60,
  "5m": 300,
  "15m": 900,
  "1h": 3600,
  "4h": 14_400,
  "1d": 86_400,
} as const;

/** A candle of at least one trade with a price, or of none (`flatCandle`). Prices are micros per share, amounts micros. */
export type Candle = {
  readonly open: Tick;
  readonly close: Tick;
  readonly high: bigint;
  readonly low: bigint;
  readonly volume: bigint;
  /** The takers' halves, by the taker's side; an inverted candle counts a buy of the other token as a sell. */
  readonly buyVolumeUsd: bigint;
  readonly sellVolumeUsd: bigint;
  /** The value of the shares at this token's prices. Divided by `volume` it is the average price. */
  readonly priceVolume: bigint;
  readonly trades: number;
};

/** A candle and the start of its bucket, Unix seconds. */
export type BucketCandle = { readonly bucket: number; readonly candle: Candle };

/** Returns the candle of a minute; `null` when none of its trades has a price. */
export function candleOfMinute(minute: MinuteCandle): Candle | null {
  const { open, close, high, low, volume, buyVolumeUsd, sellVolumeUsd, trades } = minute;
  if (open === null || close === null) return null;
  const priceVolume = buyVolumeUsd + sellVolumeUsd;
  return { open, close, high, low, volume, buyVolumeUsd, sellVolumeUsd, priceVolume, trades };
}

/** Returns the candle of a bucket without trades, at the close of the candle before it. */
export function flatCandle({ close }: Candle): Candle {
  const { price } = close;
  const nothing = { volume: 0n, buyVolumeUsd: 0n, sellVolumeUsd: 0n, priceVolume: 0n, trades: 0 };
  return { open: close, close, high: price, low: price, ...nothing };
}

/** Merges two candles of a token. Their order does not matter. */
export function mergeCandles(a: Candle, b: Candle): Candle {
  return {
    open: a.open.seq <= b.open.seq ? a.open : b.open,
    close: a.close.seq >= b.close.seq ? a.close : b.close,
    high: a.high > b.high ? a.high : b.high,
    low: a.low < b.low ? a.low : b.low,
    volume: a.volume + b.volume,
    buyVolumeUsd: a.buyVolumeUsd + b.buyVolumeUsd,
    sellVolumeUsd: a.sellVolumeUsd + b.sellVolumeUsd,
    priceVolume: a.priceVolume + b.priceVolume,
    trades: a.trades + b.trades,
  };
}

/** Merges the candles of each bucket into one, and sorts the buckets. Further fields are those of the first part. */
export function mergeBuckets<Part extends BucketCandle>(
  parts: readonly Part[],
  order: "asc" | "desc",
): Part[] {
  const merged = new Map<number, Part>();
  for (const part of parts) {
    const known = merged.get(part.bucket);
    const isFirst = known === undefined;
    const candle = isFirst ? part.candle : mergeCandles(known.candle, part.candle);
    merged.set(part.bucket, isFirst ? part : { ...known, candle });
  }
  const sign = order === "asc" ? 1 : -1;
  return [...merged.values()].toSorted((a, b) => sign * (a.bucket - b.bucket));
}

/** Returns the average price weighted by shares, in micros, rounded half to even; `null` for a volume of 0. */
export function averagePrice(candle: Candle): bigint | null {
  return priceMicros(candle.priceVolume, candle.volume);
}
