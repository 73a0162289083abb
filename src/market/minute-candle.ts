/**
 * One minute of one token's own trades: candles of every resolution are made from these. Parts of a minute merge in
 * any order, because open and close carry their position on the chain.
 */

import type { TokenId } from "../base/ids.ts";
import { type Candle, candleOfTrade, mergeCandles } from "./candle.ts";
import type { Trade } from "./fill.ts";

/**
 * One minute of a token with at least one trade that has a price. Trades of 0 shares have none: they are in no candle,
 * although their value is volume (`docs/counting.md`, rules 4 and 5).
 */
export type MinuteCandle = {
  readonly tokenId: TokenId;
  /** The start of the minute, in Unix seconds. */
  readonly minute: number;
  readonly candle: Candle;
};

/** Aggregates trades, in any order, into minute candles. */
export class MinuteCandles {
  readonly #byMinute = new Map<number, Map<TokenId, Candle>>();

  add(trade: Trade): void {
    const candle = candleOfTrade(trade);
    if (candle === null) return;
    const minute = toMinute(trade.timestamp);
    let ofMinute = this.#byMinute.get(minute);
    if (ofMinute === undefined) {
      ofMinute = new Map();
      this.#byMinute.set(minute, ofMinute);
    }
    const existing = ofMinute.get(trade.tokenId);
    ofMinute.set(trade.tokenId, existing === undefined ? candle : mergeCandles(existing, candle));
  }

  values(): readonly MinuteCandle[] {
    return [...this.#byMinute].flatMap(([minute, ofMinute]) =>
      [...ofMinute].map(([tokenId, candle]) => ({ tokenId, minute, candle })),
    );
  }
}

/** Returns the start of the minute of a time, both in Unix seconds. */
export function toMinute(timestamp: number): number {
  return timestamp - (timestamp % 60);
}

/** Returns the start of the hour of a time, both in Unix seconds. */
export function toHour(timestamp: number): number {
  return timestamp - (timestamp % 3600);
}

/** Aggregates trades into minute candles. */
export function deriveMinuteCandles(trades: Iterable<Trade>): readonly MinuteCandle[] {
  const candles = new MinuteCandles();
  for (const trade of trades) candles.add(trade);
  return candles.values();
}
