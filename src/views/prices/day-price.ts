/** Prices of the last 24 hours, of pairs and of the pairs of both ledgers. */
import type { TokenId } from "../../base/ids.ts";
import { type Candle, mergeCandles, type Tick } from "../../market/candle.ts";
import { invertCandle, invertPrice } from "../../market/invert.ts";
import type { MarketState } from "../markets/market-state.ts";
import { getNewest } from "./token-price.ts";

/** The last price before the last 24 hours of the pairs of some tokens, as a price of these tokens; `null` without one. */
export function joinedPriceBeforeDay(
  tokenIds: readonly TokenId[],
  state: MarketState,
): bigint | null {
  return getNewest(tokenIds.map((id) => pairPriceBeforeDay(id, state)))?.price ?? null;
}

/** The last 24 hours of the pairs of some tokens as one candle at their prices; `null` without a price. */
export function joinedDayCandle(tokenIds: readonly TokenId[], state: MarketState): Candle | null {
  const candles = tokenIds.flatMap((id) => pairDayCandle(id, state) ?? []);
  const [first, ...others] = candles;
  return first === undefined ? null : others.reduce(mergeCandles, first);
}

/** The change of the price of an outcome over the last 24 hours, by its tokens, in micros; `null` without a price. */
export function joinedDayChange(tokenIds: readonly TokenId[], state: MarketState): bigint | null {
  const ends = tokenIds
    .flatMap((id) => pairEnds(id, state))
    .toSorted((one, other) => one.seq - other.seq);
  const before = joinedPriceBeforeDay(tokenIds, state);
  const open = before ?? ends[0]?.price ?? null;
  const close = ends.at(-1)?.price ?? before;
  return open === null || close === null ? null : close - open;
}

/** The first and last prices within the last 24 hours of a pair, as prices of this token. */
function pairEnds(tokenId: TokenId, { directory, dayWindow }: MarketState): readonly Tick[] {
  const complement = directory.getComplement(tokenId);
  const others = complement === null ? [] : dayWindow.getEnds(complement);
  const inverted = others.map(({ seq, price }) => ({ seq, price: invertPrice(price) }));
  return [...dayWindow.getEnds(tokenId), ...inverted];
}

/** The last price of a pair before the last 24 hours, as a price of this token; `null` without one. */
function pairPriceBeforeDay(tokenId: TokenId, state: MarketState): Tick | null {
  const complement = state.directory.getComplement(tokenId);
  const own = state.priceBeforeDay(tokenId);
  const other = complement === null ? null : state.priceBeforeDay(complement);
  if (other !== null && (own === null || other.seq > own.seq)) {
    return { seq: other.seq, price: invertPrice(other.price) };
  }
  return own;
}

/** The last 24 hours of a pair as one candle at this token's prices; `null` without a price. */
export function pairDayCandle(tokenId: TokenId, state: MarketState): Candle | null {
  const complement = state.directory.getComplement(tokenId);
  const own = state.dayWindow.getCandle(tokenId);
  const other = complement === null ? null : state.dayWindow.getCandle(complement);
  const inverted = other === null ? null : invertCandle(other);
  return own === null || inverted === null ? (own ?? inverted) : mergeCandles(own, inverted);
}
