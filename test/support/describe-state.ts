/** Everything that a market state returns about the test markets, for comparison with another state. */

import type { Hash } from "../../src/base/ids.ts";
import { deriveGen3TokenIds } from "../../src/market/ids/gen3-ids.ts";
import { collateralPools } from "../../src/market/ledger/collateral.ts";
import type { MarketState } from "../../src/views/markets/market-state.ts";
import { statsSeconds } from "../../src/views/stats/platform-totals.ts";
import { listedMarkets } from "./listed-markets.ts";
import { allTestMarkets, gen3Conditions } from "./test-markets.ts";

const conditionIds = [
  ...allTestMarkets.map(({ conditionId }) => conditionId),
  ...Object.values(gen3Conditions),
];
const tokenIds = [
  ...allTestMarkets.flatMap((market) => market.tokenIds),
  ...Object.values(gen3Conditions).flatMap(deriveGen3TokenIds),
];

/** The order does not depend on how the state was built. */
export function describeState(state: MarketState): unknown {
  const { directory, dayWindow } = state;
  return {
    now: dayWindow.now,
    listed: listedMarkets(directory).toSorted(),
    listings: directory
      .listedAfter(-1)
      .map(({ seq, conditionId }) => `${seq} ${conditionId}`)
      .toSorted(),
    markets: conditionIds.map((conditionId) => directory.market(conditionId)),
    resolutions: Array.from({ length: directory.resolutions.count }, (_, index) =>
      directory.resolutions.at(index),
    ),
    columns: describeColumns(state),
    collateral: collateralPools.map((pool) =>
      directory.collateral.sum(pool, { from: 0, to: Infinity }),
    ),
    platform: describePlatform(state),
    tokens: tokenIds.map((tokenId) => ({
      place: directory.getSlot(tokenId),
      complement: directory.getComplement(tokenId),
      outcome: directory.getToken(tokenId).outcome,
      isKnown: directory.isKnownToken(tokenId),
      totals: directory.getTotals(tokenId),
      supply: directory.getSupply(tokenId),
      dayVolume: dayWindow.getVolume(tokenId),
      dayCandle: dayWindow.getCandle(tokenId),
      priceBeforeDay: state.priceBeforeDay(tokenId),
    })),
  };
}

/** The totals of the platform until the newest block. */
function describePlatform({ platform, dayWindow: { now } }: MarketState): unknown {
  return Object.values(statsSeconds).flatMap((seconds) => {
    const newest = now - (now % seconds);
    const buckets = Array.from({ length: 72 }, (_, index) => newest - index * seconds);
    const builder = `0x${"bd".repeat(32)}` as Hash;
    return buckets.flatMap((bucket) =>
      ([0, 1, 2, 3, builder] as const).map((scope) => {
        const { activeMarkets, ...totals } = platform.get(seconds, bucket, scope);
        // Trades before their condition are counted only by a state that loads both at the same time.
        return { ...totals, activeMarkets: scope === 3 ? activeMarkets : null };
      }),
    );
  });
}

/** The columns that lists of markets use, independent of ordinals. */
function describeColumns({ directory: { columns } }: MarketState): unknown {
  const entries = Array.from({ length: columns.count }, (_, ordinal) => ({
    conditionId: columns.conditionIdAt(ordinal),
    flags: columns.flags.get(ordinal),
    createdAt: columns.createdAt.get(ordinal),
    lastTradeAt: columns.lastTradeAt.get(ordinal),
    volumeUsd: columns.volumeUsd.get(ordinal),
    openInterest: columns.openInterest.get(ordinal),
    dayVolumeUsd: columns.dayVolumeUsd.get(ordinal),
    dayTrades: columns.dayTrades.get(ordinal),
    dayChange: columns.dayChange.get(ordinal),
  }));
  // A market that was reverted keeps its ordinal, with numbers of 0.
  const prepared = entries.filter(({ createdAt }) => createdAt > 0);
  return prepared.toSorted((a, b) => (a.conditionId < b.conditionId ? -1 : 1));
}
