import { priceMicros } from "../base/decimal.ts";
import type { Seq, TokenId } from "../base/ids.ts";
import { dayWindowSeconds } from "../market/day-window.ts";
import { type Fill, mirrorFill } from "../market/fill.ts";
import type { MarketState } from "../market/market-state.ts";
import { newestTradePrice } from "../market/price.ts";
import type { FactStore } from "./fact-store.ts";
import { readFills } from "./read-fills.ts";

/** What a price needs besides the state in memory; see `PriceParts` of the price row. */
export async function readPriceParts(
  store: FactStore,
  state: MarketState,
  tokenId: TokenId,
): Promise<{ tokenId: TokenId; lastTrade: Fill | null; priceBefore: bigint | null }> {
  const newest = newestTradePrice(tokenId, state.directory);
  if (newest === null) return { tokenId, lastTrade: null, priceBefore: null };
  const complement = state.directory.complementOf(tokenId);
  const [[lastTrade = null], priceBefore] = await Promise.all([
    readFills(store, {
      filter: { seqFrom: newest.seq, seqTo: (newest.seq + 1) as Seq },
      order: "desc",
      after: null,
      limit: 1,
      finalizedOnly: false,
    }),
    readPriceBefore(store, [tokenId, complement], state.dayWindow.now - dayWindowSeconds),
  ]);
  return { tokenId, lastTrade, priceBefore };
}

/** The last price at or before a time, told on the first of the tokens; `null` when there is none. */
async function readPriceBefore(
  store: FactStore,
  [tokenId, complement]: readonly [TokenId, TokenId | null],
  time: number,
): Promise<bigint | null> {
  const [newest] = await readFills(store, {
    filter: {
      roles: ["maker", "direct"],
      tokenIds: complement === null ? [tokenId] : [tokenId, complement],
      timestampTo: time + 1,
      // Trades of 0 shares have no price.
      sizeMin: 1n,
    },
    order: "desc",
    after: null,
    limit: 1,
    finalizedOnly: false,
  });
  if (newest === undefined) return null;
  const told = newest.tokenId === tokenId ? newest : mirrorFill(newest, tokenId);
  return priceMicros(told.value, told.size);
}
