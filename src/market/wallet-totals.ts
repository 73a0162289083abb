import type { ConditionId } from "../base/ids.ts";

/** The totals of a wallet's trades. Amounts are micros, times Unix seconds. */
export type WalletTotals = {
  readonly trades: number;
  readonly makerTrades: number;
  readonly takerTrades: number;
  readonly volumeUsd: bigint;
  readonly firstTimestamp: number;
  readonly lastTimestamp: number;
};

/** The totals of a wallet in one market. A `conditionId` of `null` stands for tokens of unknown markets. */
export type WalletMarket = {
  readonly conditionId: ConditionId | null;
  readonly totals: WalletTotals;
};

/** Adds two totals of a wallet. */
export function addWalletTotals(one: WalletTotals, other: WalletTotals): WalletTotals {
  return {
    trades: one.trades + other.trades,
    makerTrades: one.makerTrades + other.makerTrades,
    takerTrades: one.takerTrades + other.takerTrades,
    volumeUsd: one.volumeUsd + other.volumeUsd,
    firstTimestamp: Math.min(one.firstTimestamp, other.firstTimestamp),
    lastTimestamp: Math.max(one.lastTimestamp, other.lastTimestamp),
  };
}
