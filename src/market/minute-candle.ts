/**
 * One minute of one token's own trades: the unit from which totals, last prices and candles of
 * every resolution are made. Minutes merge: the candle of two ranges is the merge of theirs, in
 * whatever order, because open and close carry their position on the chain.
 */

import { priceMicros } from "../base/decimal.ts";
import type { Seq, TokenId } from "../base/ids.ts";
import type { Generation } from "../contracts/contracts.ts";
import { type Fill, isTrade } from "./fill.ts";

/** A price and where it was made. Micros per share. */
export type Tick = { readonly seq: Seq; readonly price: bigint };

/**
 * `trades`, `volume` and the rest count trades with a price; trades of 0 shares have none and are
 * counted apart, since they never appear in candles but are volume (`docs/counting.md`, rules 4 and 5).
 */
export type MinuteCandle = {
  readonly tokenId: TokenId;
  /** Unix seconds of the start of the minute, UTC. */
  readonly minute: number;
  /** `null` while every trade of the minute is unpriced. */
  open: Tick | null;
  close: Tick | null;
  high: bigint;
  low: bigint;
  /** Shares, in micros. */
  volume: bigint;
  /** The taker's half in collateral, in micros, by the taker's side. */
  buyVolumeUsd: bigint;
  sellVolumeUsd: bigint;
  trades: number;
  unpricedTrades: number;
  unpricedUsd: bigint;
  /** Position and unix seconds of the first trade, and time of the newest, priced or not. */
  firstSeq: number;
  firstTimestamp: number;
  lastTimestamp: number;
  /** Which exchange generations traded: bit `generation - 1`. */
  generations: number;
};

/** Gathers fills into minute candles; rows that are not trades are passed over. */
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

  /** Adds what another gathering holds of the same or another minute. */
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

/** The start of the minute a time lies in. Unix seconds. */
export function minuteOf(timestamp: number): number {
  return timestamp - (timestamp % 60);
}

/** The start of the hour a time lies in. Unix seconds. */
export function hourOf(timestamp: number): number {
  return timestamp - (timestamp % 3600);
}

/** The minute candles of some fills. */
export function deriveMinuteCandles(fills: Iterable<Fill>): readonly MinuteCandle[] {
  const candles = new MinuteCandles();
  for (const fill of fills) candles.add(fill);
  return candles.values();
}

/** Which generations a bit set names, in rising order. */
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

/** Takes in a tick, and the highest and lowest price of the trades it stands for. */
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
