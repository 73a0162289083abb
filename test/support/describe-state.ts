/** All that a market state answers about the test markets, to be compared with another's. */
import type { ConditionId } from "../../src/base/ids.ts";
import type { MarketState } from "../../src/market/market-state.ts";
import { allTestMarkets, testPairs } from "./test-markets.ts";

/** Conditions of generation 3 are their own first token. */
const conditionIds = [
  ...allTestMarkets.map(({ conditionId }) => conditionId),
  ...testPairs.generation3.map(([yes]) => yes as string as ConditionId),
];
const tokenIds = [
  ...allTestMarkets.flatMap((market) => market.tokenIds),
  ...testPairs.generation3.flat(),
];

/** In no order that depends on how the state came about. */
export function describeState(state: MarketState): unknown {
  const { directory, dayWindow } = state;
  return {
    now: dayWindow.now,
    listed: [...directory.listed()].toSorted(),
    markets: conditionIds.map((conditionId) => directory.market(conditionId)),
    resolutions: directory.resolutions.ordered,
    tokens: tokenIds.map((tokenId) => ({
      place: directory.placeOf(tokenId),
      complement: directory.complementOf(tokenId),
      outcome: directory.outcomeOf(tokenId),
      isKnown: directory.isKnownToken(tokenId),
      totals: directory.totalsOf(tokenId),
      dayVolume: dayWindow.volumeOf(tokenId),
      dayCandle: dayWindow.candleOf(tokenId),
    })),
  };
}
