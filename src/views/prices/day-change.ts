import { mapYielding } from "../../base/time/turns.ts";
import { getAllTokens, type Market } from "../../market/market.ts";
import type { MarketColumns } from "../markets/market-columns.ts";
import type { MarketState } from "../markets/market-state.ts";
import { joinedDayChange } from "./day-price.ts";

/** The change of the price of a market's first outcome in 24 hours, on both ledgers, in micros; `null` without a price. */
export function getDayChange(market: Market, state: MarketState): bigint | null {
  const first = getAllTokens(market).filter(({ outcomeIndex }) => outcomeIndex === 0);
  return joinedDayChange(
    first.map(({ tokenId }) => tokenId),
    state,
  );
}

/** Computes the column `dayChange` again where it is out of date. Yields to the event loop. */
export async function updateDayChanges(state: MarketState): Promise<void> {
  const { columns } = state.directory;
  await mapYielding(staleMarkets(columns), (ordinal) => {
    columns.isDayStale.set(ordinal, 0);
    const isTraded = columns.dayTrades.get(ordinal) > 0;
    const market = isTraded ? state.directory.market(columns.conditionIdAt(ordinal)) : null;
    const change = market === null ? null : getDayChange(market, state);
    columns.dayChange.set(ordinal, Number(change ?? 0n));
  });
}

function* staleMarkets({ isDayStale }: MarketColumns): Generator<number> {
  let at = isDayStale.values.indexOf(1);
  for (; at !== -1; at = isDayStale.values.indexOf(1, at + 1)) yield at;
}
