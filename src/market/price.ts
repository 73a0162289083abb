import type { Seq, TokenId } from "../base/ids.ts";
import { type Candle, mergeCandles, mirrorCandle, mirrorPrice } from "./candle.ts";
import { type Market, payoutsMicros, type Resolution } from "./market.ts";
import type { MarketDirectory } from "./market-directory.ts";
import type { MarketState } from "./market-state.ts";

/** Where a price is from: the token's own trade, the other token's, or the payout. */
type PriceSource = "last_trade" | "complement" | "settlement";

/** The price of a token now. `seq` is where it was made: the trade's, or the resolution's. */
export type TokenPrice = {
  readonly price: bigint;
  readonly source: PriceSource;
  readonly seq: Seq;
};

/**
 * The newest trade of either token of the pair, the other's told as 1 - p; once resolved, the
 * payout, whatever is traded after (`docs/counting.md`, rule 11). `null` when neither ever had a price.
 */
export function pairPrice(tokenId: TokenId, directory: MarketDirectory): TokenPrice | null {
  return settlementPrice(tokenId, directory) ?? newestTradePrice(tokenId, directory);
}

/** The same for an outcome of a market at hand, of which only what was traded is looked up. */
export function outcomePrice(
  { tokens, resolution }: Pick<Market, "tokens" | "resolution">,
  outcomeIndex: number,
  directory: MarketDirectory,
): TokenPrice | null {
  const settled = resolution === null ? null : settledPrice(resolution, outcomeIndex);
  if (settled !== null) return settled;
  const [own, other] = [tokens[outcomeIndex], tokens[1 - outcomeIndex]];
  return own === undefined ? null : newestOfPair(own.tokenId, other?.tokenId ?? null, directory);
}

function settlementPrice(tokenId: TokenId, directory: MarketDirectory): TokenPrice | null {
  const place = directory.placeOf(tokenId);
  const resolution = place === null ? null : directory.resolutionOf(place.conditionId);
  if (place === null || resolution === null) return null;
  return settledPrice(resolution, place.outcomeIndex);
}

function settledPrice(resolution: Resolution, outcomeIndex: number): TokenPrice | null {
  const price = payoutsMicros(resolution)[outcomeIndex];
  return price === undefined ? null : { price, source: "settlement", seq: resolution.seq };
}

/** The newest trade of either token of the pair, told on this one, whatever became of it. */
export function newestTradePrice(tokenId: TokenId, directory: MarketDirectory): TokenPrice | null {
  return newestOfPair(tokenId, directory.complementOf(tokenId), directory);
}

function newestOfPair(
  tokenId: TokenId,
  complement: TokenId | null,
  directory: MarketDirectory,
): TokenPrice | null {
  const own = directory.totalsOf(tokenId).lastPrice;
  const other = complement === null ? null : directory.totalsOf(complement).lastPrice;
  if (other !== null && (own === null || other.seq > own.seq)) {
    return { price: mirrorPrice(other.price), source: "complement", seq: other.seq };
  }
  return own === null ? null : { ...own, source: "last_trade" };
}

/** The last price of a pair before its last 24 hours, at this token's; `null` without one. */
export function pairPriceBeforeDay(tokenId: TokenId, state: MarketState): bigint | null {
  const complement = state.directory.complementOf(tokenId);
  const own = state.priceBeforeDay(tokenId);
  const other = complement === null ? null : state.priceBeforeDay(complement);
  if (other !== null && (own === null || other.seq > own.seq)) return mirrorPrice(other.price);
  return own?.price ?? null;
}

/** The last 24 hours of a pair as one candle at this token's prices; `null` without a price. */
export function pairDayCandle(tokenId: TokenId, state: MarketState): Candle | null {
  const complement = state.directory.complementOf(tokenId);
  const own = state.dayWindow.candleOf(tokenId);
  const other = complement === null ? null : state.dayWindow.candleOf(complement);
  const mirrored = other === null ? null : mirrorCandle(other);
  return own === null || mirrored === null ? (own ?? mirrored) : mergeCandles(own, mirrored);
}
