import { priceMicros } from "../base/decimal.ts";
import type { TokenId } from "../base/ids.ts";
import { type Fill, isTrade } from "./fill.ts";
import type { Tick } from "./minute-candle.ts";

/** The trade that set the newest price of a token, with the fields that `/v1/price` returns. */
export type LastTrade = Tick & Pick<Fill, "timestamp" | "side" | "size" | "value" | "txHash">;

/** Returns the last priced trade of each token. The fills must be in chain order. */
export function lastTradesOf(fills: Iterable<Fill>): ReadonlyMap<TokenId, LastTrade> {
  const last = new Map<TokenId, LastTrade>();
  for (const fill of fills) {
    const trade = isTrade(fill) ? lastTradeOf(fill) : null;
    if (trade !== null) last.set(fill.tokenId, trade);
  }
  return last;
}

/** Adds the price to a trade; `null` when the trade has none. */
export function lastTradeOf(trade: Omit<LastTrade, "price">): LastTrade | null {
  const { seq, timestamp, side, size, value, txHash } = trade;
  const price = priceMicros(value, size);
  return price === null ? null : { seq, price, timestamp, side, size, value, txHash };
}
