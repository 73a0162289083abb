import { priceMicros } from "../base/decimal.ts";
import type { TokenId } from "../base/ids.ts";
import { type Fill, isTrade } from "./fill.ts";
import type { Tick } from "./minute-candle.ts";

/** The trade that made the newest price of its token, with what `/v1/price` shows of it. */
export type LastTrade = Tick & Pick<Fill, "timestamp" | "side" | "size" | "value" | "txHash">;

/** The last priced trade of each token among some fills that are in chain order. */
export function lastTradesOf(fills: Iterable<Fill>): ReadonlyMap<TokenId, LastTrade> {
  const last = new Map<TokenId, LastTrade>();
  for (const fill of fills) {
    const trade = isTrade(fill) ? lastTradeOf(fill) : null;
    if (trade !== null) last.set(fill.tokenId, trade);
  }
  return last;
}

/** A trade as the one that made a price; `null` when it made none. */
export function lastTradeOf(trade: Omit<LastTrade, "price">): LastTrade | null {
  const { seq, timestamp, side, size, value, txHash } = trade;
  const price = priceMicros(value, size);
  return price === null ? null : { seq, price, timestamp, side, size, value, txHash };
}
