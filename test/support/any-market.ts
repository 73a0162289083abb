import type { MarketSelection } from "../../src/views/markets/market-selection.ts";

/** A selection without filters. */
export const anyMarket: MarketSelection = {
  hits: null,
  ordinals: null,
  flags: { mask: 0, expected: 0 },
  labels: {},
  minVolume: 0,
  minDayVolume: 0,
  createdFrom: 0,
  createdBefore: Infinity,
  ends: null,
  sort: "volume_24h",
};
