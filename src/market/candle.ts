/**
 * A candle over any range of time, and how candles combine: merging ranges, and inverting one
 * token's candle onto the other of its pair. Merging is exact and order-free, so larger buckets are
 * exact roll-ups of minutes.
 */

import { priceMicros } from "../base/decimal.ts";
import type { Seq } from "../base/ids.ts";
import type { MinuteCandle, Tick } from "./minute-candle.ts";

/** Allowed resolutions, in seconds. */
export const resolutionSeconds = {
  "1m": 60,
  "5m": 300,
  "15m": 900,
  "1h": 3600,
  "4h": 14_400,
  "1d": 86_400,
} as const;

const onePrice = 1_000_000n;

/** Prices in micros per share, amounts in micros. At least one trade with a price. */
export type Candle = {
  readonly open: Tick;
  readonly close: Tick;
  readonly high: bigint;
  readonly low: bigint;
  readonly volume: bigint;
  /** The takers' halves as traded; a inverted candle counts a buy of the other token as a sell. */
  readonly buyVolumeUsd: bigint;
  readonly sellVolumeUsd: bigint;
  /** What the shares cost at this token's prices; over `volume` it gives the average price. */
  readonly priceVolume: bigint;
  readonly trades: number;
};

/** The candle of a minute; `null` when none of its trades has a price. */
export function candleOfMinute(minute: MinuteCandle): Candle | null {
  const { open, close, high, low, volume, buyVolumeUsd, sellVolumeUsd, trades } = minute;
  if (open === null || close === null) return null;
  const priceVolume = buyVolumeUsd + sellVolumeUsd;
  return { open, close, high, low, volume, buyVolumeUsd, sellVolumeUsd, priceVolume, trades };
}

/** The candle over both ranges, in whatever order they are given. */
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

/** The same trades reported on the other token: a price p is 1 - p there, and a buy is a sell. */
export function invertCandle(candle: Candle): Candle {
  return {
    open: invertTick(candle.open),
    close: invertTick(candle.close),
    high: invertPrice(candle.low),
    low: invertPrice(candle.high),
    volume: candle.volume,
    buyVolumeUsd: candle.sellVolumeUsd,
    sellVolumeUsd: candle.buyVolumeUsd,
    priceVolume: candle.volume - candle.priceVolume,
    trades: candle.trades,
  };
}

/** A price of one token as the price of the other. Micros per share. */
export function invertPrice(price: bigint): bigint {
  return onePrice - price;
}

/** The average price weighted by shares, rounded half-even. */
export function averagePrice(candle: Candle): bigint | null {
  return priceMicros(candle.priceVolume, candle.volume);
}

function invertTick({ seq, price }: Tick): { seq: Seq; price: bigint } {
  return { seq, price: invertPrice(price) };
}
