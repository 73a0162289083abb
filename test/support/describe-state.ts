/** All that a market state answers about the test markets, to be compared with another's. */
import { deriveGen3TokenIds } from "../../src/market/gen3-ids.ts";
import type { MarketState } from "../../src/market/market-state.ts";
import { allTestMarkets, gen3Conditions } from "./test-markets.ts";

const conditionIds = [
  ...allTestMarkets.map(({ conditionId }) => conditionId),
  ...Object.values(gen3Conditions),
];
const tokenIds = [
  ...allTestMarkets.flatMap((market) => market.tokenIds),
  ...Object.values(gen3Conditions).flatMap(deriveGen3TokenIds),
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
      priceBeforeDay: state.priceBeforeDay(tokenId),
    })),
  };
}
