import type { Seq, TokenId } from "../../base/ids.ts";
import { invertPrice } from "../../market/invert.ts";
import {
  type LastTrade,
  type Market,
  payoutsMicros,
  type Resolution,
} from "../../market/market.ts";
import type { Conditions } from "../markets/conditions.ts";

/** Where a price is from: a trade of the token, a trade of its complement, or the payout. */
type PriceSource = "last_trade" | "complement" | "settlement";

/** The current price of a token, in micros. `seq` is the position of the trade or resolution that set it. */
export type TokenPrice = {
  readonly price: bigint;
  readonly source: PriceSource;
  readonly seq: Seq;
};

/** The newest trade of a pair. `isOwn` is false for one of the complement. */
export type NewestTrade = { readonly trade: LastTrade; readonly isOwn: boolean };

/**
 * Returns the price of the newest trade of either token of the pair. A trade of the other token is inverted
 * to 1 - p. After the resolution, the price is the payout, whatever is traded later (`docs/counting.md`,
 * rule 11). `null` when neither token ever had a price.
 */
export function pairPrice(tokenId: TokenId, directory: Conditions): TokenPrice | null {
  const slot = directory.getSlot(tokenId);
  const resolution = slot === null ? null : directory.getResolution(slot.conditionId);
  const settled = settledPrice(resolution, slot?.outcomeIndex);
  return settled ?? priceOfTrade(newestTrade(tokenId, directory));
}

/** Returns the same price for an outcome of a condition that was already read, and only looks up its trades. */
export function outcomePrice(
  { conditionId, tokens }: Pick<Market, "conditionId" | "tokens">,
  outcomeIndex: number,
  directory: Conditions,
): TokenPrice | null {
  const settled = settledPrice(directory.getResolution(conditionId), outcomeIndex);
  if (settled !== null) return settled;
  const [own, other] = [tokens[outcomeIndex], tokens[1 - outcomeIndex]];
  if (own === undefined) return null;
  return priceOfTrade(newestOfPair(own.tokenId, other?.tokenId ?? null, directory));
}

function settledPrice(
  resolution: Resolution | null,
  outcomeIndex: number | undefined,
): TokenPrice | null {
  if (resolution === null || outcomeIndex === undefined) return null;
  const price = payoutsMicros(resolution)[outcomeIndex];
  return price === undefined ? null : { price, source: "settlement", seq: resolution.seq };
}

/** The newest priced trade of either token of the pair, even if the market is resolved. */
export function newestTrade(tokenId: TokenId, directory: Conditions): NewestTrade | null {
  return newestOfPair(tokenId, directory.getComplement(tokenId), directory);
}

function newestOfPair(
  tokenId: TokenId,
  complement: TokenId | null,
  directory: Conditions,
): NewestTrade | null {
  const own = directory.getTotals(tokenId).lastTrade;
  const other = complement === null ? null : directory.getTotals(complement).lastTrade;
  if (other !== null && (own === null || other.seq > own.seq)) {
    return { trade: other, isOwn: false };
  }
  return own === null ? null : { trade: own, isOwn: true };
}

function priceOfTrade(newest: NewestTrade | null): TokenPrice | null {
  if (newest === null) return null;
  const { seq, price } = newest.trade;
  return newest.isOwn
    ? { price, source: "last_trade", seq }
    : { price: invertPrice(price), source: "complement", seq };
}

/**
 * Returns the price of an outcome by its tokens, one on each ledger: the payout that came first, or else the price of
 * the newest trade.
 */
export function joinedPrice(
  tokenIds: readonly TokenId[],
  directory: Conditions,
): TokenPrice | null {
  const settled = settlementPrice(tokenIds, directory);
  if (settled === null) return getNewest(tokenIds.map((id) => pairPrice(id, directory)));
  const { price, resolution } = settled;
  return { price, source: "settlement", seq: resolution.seq };
}

/** The first result of the tokens of an outcome, and its payout in micros; `null` before that. */
export function settlementPrice(
  tokenIds: readonly TokenId[],
  directory: Conditions,
): { readonly price: bigint; readonly resolution: Resolution } | null {
  const settled = tokenIds.flatMap((tokenId) => {
    const slot = directory.getSlot(tokenId);
    const resolution = slot === null ? null : directory.getResolution(slot.conditionId);
    const price = settledPrice(resolution, slot?.outcomeIndex)?.price;
    return resolution === null || price === undefined ? [] : [{ price, resolution }];
  });
  return settled.toSorted((a, b) => a.resolution.seq - b.resolution.seq)[0] ?? null;
}

/** The newest priced trade of the pairs of some tokens, even if the market is resolved. */
export function joinedNewestTrade(
  tokenIds: readonly TokenId[],
  directory: Conditions,
): NewestTrade | null {
  const trades = tokenIds.flatMap((id) => newestTrade(id, directory) ?? []);
  return trades.toSorted((a, b) => b.trade.seq - a.trade.seq)[0] ?? null;
}

/** Returns what has the highest position; `null` without any. */
export function getNewest<Priced extends { readonly seq: Seq }>(
  prices: readonly (Priced | null)[],
): Priced | null {
  const existing = prices.filter((one) => one !== null);
  return existing.toSorted((a, b) => b.seq - a.seq)[0] ?? null;
}
