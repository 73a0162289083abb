/** Rows of markets and events, with their prices and sums as of now. */

import { groupByOutcome } from "../../market/ledger/circulating-shares.ts";
import { getAllTokens, type Market, type MarketToken } from "../../market/market.ts";
import { type EventRow, toEventRow } from "../../rows/event-row.ts";
import {
  type MarketRow,
  type MarketTrading,
  type TradeSums,
  toMarketRow,
} from "../../rows/market-row.ts";
import type { MarketState } from "../../views/markets/market-state.ts";
import { getDayChange } from "../../views/prices/day-change.ts";
import { getOpenInterest } from "../../views/prices/market-interest.ts";
import { getPayout } from "../../views/prices/position-value.ts";
import { joinedPrice, outcomePrice } from "../../views/prices/token-price.ts";

/** Returns a market as clients see it. */
export function getMarketRow(market: Market, state: MarketState): MarketRow {
  return toMarketRow(market, getTrading(market, state));
}

/** Returns an event as clients see it, from its markets, of which there must be one. */
export function getEventRow(
  key: string,
  unordered: readonly Market[],
  state: MarketState,
): EventRow {
  // Each process learns of the markets in another order.
  const markets = unordered.toSorted(
    (a, b) => a.createdAt - b.createdAt || (a.conditionId < b.conditionId ? -1 : 1),
  );
  return toEventRow({
    key,
    markets: markets.map((market) => ({ market, trading: getTrading(market, state) })),
    sums: sumTrades(markets.flatMap(getAllTokens), state),
    priceSum: getPriceSum(markets, state),
  });
}

function getTrading(market: Market, state: MarketState): MarketTrading {
  const toPrices = (condition: Pick<Market, "conditionId" | "tokens"> | null) =>
    condition?.tokens.map(
      ({ outcomeIndex }) => outcomePrice(condition, outcomeIndex, state.directory)?.price ?? null,
    ) ?? [];
  return {
    sums: sumTrades(getAllTokens(market), state),
    prices: toPrices(market),
    mirrorPrices: toPrices(market.mirror),
    dayChange: getDayChange(market, state),
    liquidityUsd: getLiquidity(market, state),
    openInterest: getOpenInterest(groupByOutcome(market), state.directory),
    legs: getLegs(market, state.directory),
  };
}

function getLiquidity({ conditionId, resolution }: Market, { directory }: MarketState) {
  const ordinal = directory.getOrdinal(conditionId);
  const usd = ordinal === null ? 0 : directory.columns.liquidityUsd.get(ordinal);
  return usd === 0 || resolution !== null ? null : BigInt(usd);
}

function getLegs({ conditionId }: Market, directory: MarketState["directory"]) {
  const tokenIds = directory.gen3.getLegs(conditionId);
  if (tokenIds === null) return null;
  return tokenIds.map((id) => ({
    token: directory.getToken(id),
    payout: getPayout(id, directory),
  }));
}

function sumTrades(
  tokens: readonly MarketToken[],
  { directory, dayWindow }: MarketState,
): TradeSums {
  const sums = {
    volumeUsd: 0n,
    volumeShares: 0n,
    trades: 0,
    dayVolumeUsd: 0n,
    dayTrades: 0,
    lastTimestamp: 0,
  };
  for (const { tokenId } of tokens) {
    const totals = directory.getTotals(tokenId);
    const day = dayWindow.getVolume(tokenId);
    sums.volumeUsd += totals.volumeUsd;
    sums.volumeShares += totals.volumeShares;
    sums.trades += totals.trades;
    sums.dayVolumeUsd += day.volumeUsd;
    sums.dayTrades += day.trades;
    sums.lastTimestamp = Math.max(sums.lastTimestamp, totals.lastTimestamp);
  }
  return sums;
}

function getPriceSum(markets: readonly Market[], { directory }: MarketState): bigint | null {
  if (!markets.some((market) => market.negRisk)) return null;
  // The price of a question is the newest one on either ledger.
  const prices = markets.flatMap((market) => {
    const tokens = getAllTokens(market).filter(({ outcomeIndex }) => outcomeIndex === 0);
    const tokenIds = tokens.map(({ tokenId }) => tokenId);
    return joinedPrice(tokenIds, directory)?.price ?? [];
  });
  return prices.length === 0 ? null : prices.reduce((sum, price) => sum + price, 0n);
}
