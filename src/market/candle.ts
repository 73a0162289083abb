/**
 * Candles over any time range, and how they merge. Merging is exact and independent of order, so candles of any
 * resolution are exact roll-ups of minutes.
 */

import { priceMicros } from "../base/decimal.ts";
import type { Seq } from "../base/ids.ts";
import type { DayTrade } from "./fill.ts";

/** A price, in micros per share, and the position of the trade that set it. */
export type Tick = { readonly seq: Seq; readonly price: bigint };

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

/** Returns the candle of one trade; `null` when the trade has no price. */
export function candleOfTrade({ seq, size, value, side }: DayTrade): Candle | null {
  const price = priceMicros(value, size);
  if (price === null) return null;
  const tick = { seq, price };
  return {
    open: tick,
    close: tick,
    high: price,
    low: price,
    volume: size,
    buyVolumeUsd: side === "BUY" ? value : 0n,
    sellVolumeUsd: side === "BUY" ? 0n : value,
    priceVolume: value,
    trades: 1,
  };
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
    const existing = merged.get(part.bucket);
    const isFirst = existing === undefined;
    const candle = isFirst ? part.candle : mergeCandles(existing.candle, part.candle);
    merged.set(part.bucket, isFirst ? part : { ...existing, candle });
  }
  const sign = order === "asc" ? 1 : -1;
  return [...merged.values()].toSorted((a, b) => sign * (a.bucket - b.bucket));
}

/** Returns the average price weighted by shares, in micros, rounded half to even; `null` for a volume of 0. */
export function averagePrice(candle: Candle): bigint | null {
  return priceMicros(candle.priceVolume, candle.volume);
}
