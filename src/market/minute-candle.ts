/**
 * One minute of one token's own trades: candles of every resolution are made from these. Parts of a minute merge in
 * any order, because open and close carry their position on the chain.
 */

import type { TokenId } from "../base/ids.ts";
import type { Generation } from "../contracts/contracts.ts";
import { type Candle, candleOfTrade, mergeCandles } from "./candle.ts";
import type { Trade } from "./fill.ts";

/**
 * One minute of a token. Trades of 0 shares have no price and are counted separately: they are in no candle, but their
 * value is volume (`docs/counting.md`, rules 4 and 5).
 */
export type MinuteCandle = {
  readonly tokenId: TokenId;
  /** The start of the minute, in Unix seconds. */
  readonly minute: number;
  /** `null` while every trade of the minute is unpriced. */
  candle: Candle | null;
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

  add(trade: Trade): void {
    const { seq, timestamp } = trade;
    const minute = this.#at(trade.tokenId, timestamp);
    minute.generations |= generationBit(trade.generation);
    minute.firstSeq = Math.min(minute.firstSeq, seq);
    minute.firstTimestamp = Math.min(minute.firstTimestamp, timestamp);
    minute.lastTimestamp = Math.max(minute.lastTimestamp, timestamp);
    const candle = candleOfTrade(trade);
    if (candle === null) {
      minute.unpricedTrades += 1;
      minute.unpricedUsd += trade.value;
    } else {
      minute.candle = minute.candle === null ? candle : mergeCandles(minute.candle, candle);
    }
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
    candle: null,
    unpricedTrades: 0,
    unpricedUsd: 0n,
    firstSeq: Number.MAX_SAFE_INTEGER,
    firstTimestamp: Number.MAX_SAFE_INTEGER,
    lastTimestamp: 0,
    generations: 0,
  };
}
