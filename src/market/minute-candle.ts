/**
 * One minute of one token's own trades: candles of every resolution are made from these. Parts of a minute merge in
 * any order, because open and close carry their position on the chain.
 */

import { priceMicros } from "../base/decimal.ts";
import type { Seq, TokenId } from "../base/ids.ts";
import type { Generation } from "../contracts/contracts.ts";
import type { Trade } from "./fill.ts";

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

/** Aggregates trades, in any order, into minute candles. */
export class MinuteCandles {
  readonly #byMinute = new Map<number, Map<TokenId, MinuteCandle>>();

  add({ seq, timestamp, tokenId, size, value, side, generation }: Trade): void {
    const candle = this.#at(tokenId, timestamp);
    candle.generations |= generationBit(generation);
    candle.firstSeq = Math.min(candle.firstSeq, seq);
    candle.firstTimestamp = Math.min(candle.firstTimestamp, timestamp);
    candle.lastTimestamp = Math.max(candle.lastTimestamp, timestamp);
    const price = priceMicros(value, size);
    if (price === null) {
      candle.unpricedTrades += 1;
      candle.unpricedUsd += value;
      return;
    }
    addTick(candle, { seq, price });
    candle.trades += 1;
    candle.volume += size;
    if (side === "BUY") candle.buyVolumeUsd += value;
    else candle.sellVolumeUsd += value;
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

/** Aggregates trades into minute candles. */
export function deriveMinuteCandles(trades: Iterable<Trade>): readonly MinuteCandle[] {
  const candles = new MinuteCandles();
  for (const trade of trades) candles.add(trade);
  return candles.values();
}

/** Returns the bit of a generation in a bit set. */
export function generationBit(generation: Generation): number {
  return 1 << (generation - 1);
}

/** Returns the generations of a bit set, in ascending order. */
export function generationsOf(bits: number): Generation[] {
  return ([1, 2, 3] as const).filter((generation) => (bits & generationBit(generation)) !== 0);
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

function addTick(candle: MinuteCandle, tick: Tick): void {
  const { seq, price } = tick;
  const isFirst = candle.open === null;
  if (isFirst || price > candle.high) candle.high = price;
  if (isFirst || price < candle.low) candle.low = price;
  if (candle.open === null || seq < candle.open.seq) candle.open = tick;
  if (candle.close === null || seq > candle.close.seq) candle.close = tick;
}
