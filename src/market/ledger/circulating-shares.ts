/** The circulating shares of a market, what they are worth, and the collateral behind them. */
import type { TokenId } from "../../base/ids.ts";
import { parseGen3TokenId } from "../ids/gen3-ids.ts";
import { getAllTokens, type Market, type Resolution, winningOutcomeIndex } from "../market.ts";
import { getSupply, noSupply, type SupplyChange } from "./holder.ts";
import { type Fraction, valueShares } from "./valued-position.ts";

/** The supplies of the tokens of a market. */
export type Supplies = ReadonlyMap<TokenId, SupplyChange>;

/** Returns the tokens of each outcome, on both ledgers. */
export function groupByOutcome(market: Pick<Market, "tokens" | "mirror">): TokenId[][] {
  const tokens = getAllTokens(market);
  return market.tokens.map(({ outcomeIndex }) =>
    tokens.filter((one) => one.outcomeIndex === outcomeIndex).map(({ tokenId }) => tokenId),
  );
}

/** Returns the circulating shares of each outcome, on both ledgers. */
export function getOutcomeSupplies(market: Market, supplies: Supplies): bigint[] {
  return groupByOutcome(market).map((tokenIds) =>
    tokenIds.reduce((sum, id) => sum + getSupply(supplies.get(id) ?? noSupply), 0n),
  );
}

/** Values the shares of each outcome at its price. `null` while one of them has none. */
export function valueOutcomes(
  supply: readonly bigint[],
  prices: readonly (Fraction | null)[],
): bigint | null {
  let sum = 0n;
  for (const [index, shares] of supply.entries()) {
    const value = valueShares(shares, prices[index] ?? null);
    if (value === null) return null;
    sum += value;
  }
  return sum;
}

/**
 * Returns the collateral that the contract has for a condition of ConditionalTokens: the supply of either outcome, and
 * of the winner once there is one. `null` for other markets, whose collateral is joined with that of their event or
 * moves with migrations, and after payouts of fractions, which are rounded one by one.
 */
export function getCollateral(
  market: Market,
  supplies: Supplies,
  resolution: Resolution | null,
): bigint | null {
  const [first] = market.tokens;
  const isStandard = first !== undefined && parseGen3TokenId(first.tokenId) === null;
  if (!isStandard || market.negRisk || market.mirror !== null) return null;
  const backed = market.tokens.map(({ tokenId }) => {
    const { minted, burnt } = supplies.get(tokenId) ?? noSupply;
    return minted - burnt;
  });
  if (resolution === null)
    return backed.every((one) => one === backed[0]) ? (backed[0] ?? null) : null;
  const winner = winningOutcomeIndex(resolution);
  return winner === null ? null : (backed[winner] ?? null);
}
