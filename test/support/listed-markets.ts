import type { ConditionId } from "../../src/base/ids.ts";
import { marketFlags } from "../../src/views/markets/market-columns.ts";
import type { MarketDirectory } from "../../src/views/markets/market-directory.ts";

/** The conditions that are markets, in the order of their discovery. */
export function listedMarkets({ columns }: MarketDirectory): ConditionId[] {
  return Array.from({ length: columns.count }, (_, ordinal) => ordinal)
    .filter((ordinal) => (columns.flags.get(ordinal) & marketFlags.listed) !== 0)
    .map((ordinal) => columns.conditionIdAt(ordinal));
}
