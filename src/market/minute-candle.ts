/**
 * One minute of one token's own trades: totals, last prices and candles of every resolution are made
 * from these. Parts of a minute merge in any order, because open and close carry their position on the chain.
 */

import { priceMicros } from "../base/decimal.ts";
import type { Seq, TokenId } from "../base/ids.ts";
import type { Generation } from "../contracts/contracts.ts";
import { type Fill, isTrade } from "./fill.ts";

/** A price, in micros per share, and the position of the trade that set it. */
export type Tick = { readonly seq: Seq; readonly price: bigint };

/**
 * One minute of a token. `trades`, `volume` and the like count only trades with a price. Trades of 0 shares have none
 * and are counted separately: they are in no candle, but their value is volume (`docs/counting.md`, rules 4 and 5).
 */
export type MinuteCandle = {
  readonly tokenId: TokenId;
  /** The start of the minute, in Unix seconds. */
  readonly minute: number;
  /** `null` while every trade of the minute is unpriced. */
  open: Tick | null;
  close: Tick | null;
  high: bigint;
  low: bigint;
  /** The shares traded, in micros. */
  volume: bigint;
  /** The takers' halves in collateral, in micros, by the taker's side. */
  buyVolumeUsd: bigint;
  sellVolumeUsd: bigint;
  trades: number;
  unpricedTrades: number;
  unpricedUsd: bigint;
  /** The position of the first trade, and the Unix seconds of the first and last, priced or not. */
  firstSeq: number;
  firstTimestamp: number;
  lastTimestamp: number;
  /** The exchange generations that traded: bit `generation - 1` each. */
  generations: number;
};

/** Aggregates fills into minute candles. Skips fills that are not trades. */
export class MinuteCandles {
  readonly #byMinute = new Map<number, Map<TokenId, MinuteCandle>>();

  add(fill: Fill): void {
    if (!isTrade(fill)) return;
    const candle = this.#at(fill.tokenId, fill.timestamp);
    candle.generations |= 1 << (fill.exchange.generation - 1);
    addTimes(candle, { seq: fill.seq, first: fill.timestamp, last: fill.timestamp });
    const price = priceMicros(fill.value, fill.size);
    if (price === null) {
      candle.unpricedTrades += 1;
      candle.unpricedUsd += fill.value;
      return;
    }
    addPrices(candle, { seq: fill.seq, price }, { high: price, low: price });
    candle.trades += 1;
    candle.volume += fill.size;
    if (fill.side === "BUY") candle.buyVolumeUsd += fill.value;
    else candle.sellVolumeUsd += fill.value;
  }

  /** Adds another candle to that of the same token and minute. */
  merge(part: MinuteCandle): void {
    const candle = this.#at(part.tokenId, part.minute);
    if (part.open !== null) addPrices(candle, part.open, part);
    if (part.close !== null) addPrices(candle, part.close, part);
    candle.trades += part.trades;
    candle.volume += part.volume;
    candle.buyVolumeUsd += part.buyVolumeUsd;
    candle.sellVolumeUsd += part.sellVolumeUsd;
    candle.unpricedTrades += part.unpricedTrades;
    candle.unpricedUsd += part.unpricedUsd;
    const { firstSeq: seq, firstTimestamp: first, lastTimestamp: last } = part;
    addTimes(candle, { seq, first, last });
    candle.generations |= part.generations;
  }

  values(): readonly MinuteCandle[] {
    return [...this.#byMinute.values()].flatMap((ofMinute) => [...ofMinute.values()]);
  }

  #at(tokenId: TokenId, timestamp: number): MinuteCandle {
    const minute = minuteOf(timestamp);
    let ofMinute = this.#byMinute.get(minute);
    if (ofMinute === undefined) {
      ofMinute = new Map();
      this.#byMinute.set(minute, ofMinute);
    }
    const known = ofMinute.get(tokenId);
    if (known !== undefined) return known;
    const candle = emptyMinute(tokenId, minute);
    ofMinute.set(tokenId, candle);
    return candle;
  }
}

/** Returns the start of the minute of a time, both in Unix seconds. */
export function minuteOf(timestamp: number): number {
  return timestamp - (timestamp % 60);
}

/** Returns the start of the hour of a time, both in Unix seconds. */
export function hourOf(timestamp: number): number {
  return timestamp - (timestamp % 3600);
}

/** Aggregates fills into minute candles. */
export function deriveMinuteCandles(fills: Iterable<Fill>): readonly MinuteCandle[] {
  const candles = new MinuteCandles();
  for (const fill of fills) candles.add(fill);
  return candles.values();
}

/** Returns the generations of a bit set, in ascending order. */
export function generationsOf(bits: number): Generation[] {
  return ([1, 2, 3] as const).filter((generation) => (bits & (1 << (generation - 1))) !== 0);
}

function emptyMinute(tokenId: TokenId, minute: number): MinuteCandle {
  return {
    tokenId,
    minute,
    open: null,
    close: null,
    high: 0n,
    low: 0n,
    volume: 0n,
    buyVolumeUsd: 0n,
    sellVolumeUsd: 0n,
    trades: 0,
    unpricedTrades: 0,
    unpricedUsd: 0n,
    firstSeq: Number.MAX_SAFE_INTEGER,
    firstTimestamp: Number.MAX_SAFE_INTEGER,
    lastTimestamp: 0,
    generations: 0,
  };
}

function addTimes(
  candle: MinuteCandle,
  { seq, first, last }: { seq: number; first: number; last: number },
): void {
  candle.firstSeq = Math.min(candle.firstSeq, seq);
  candle.firstTimestamp = Math.min(candle.firstTimestamp, first);
  candle.lastTimestamp = Math.max(candle.lastTimestamp, last);
}

/** Adds a tick, and the highest and lowest price of the trades that it represents. */
function addPrices(
  candle: MinuteCandle,
  tick: Tick,
  { high, low }: { high: bigint; low: bigint },
): void {
  const isFirst = candle.open === null;
  if (isFirst || high > candle.high) candle.high = high;
  if (isFirst || low < candle.low) candle.low = low;
  if (candle.open === null || tick.seq < candle.open.seq) candle.open = tick;
  if (candle.close === null || tick.seq > candle.close.seq) candle.close = tick;
}
