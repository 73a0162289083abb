import type { TokenId } from "../../base/ids.ts";
import { valueOutcomes } from "../../market/ledger/circulating-shares.ts";
import { getSupply } from "../../market/ledger/holder.ts";
import type { Conditions } from "../markets/conditions.ts";
import { getJoinedPrice } from "./position-value.ts";

/**
 * Values the circulating shares of a market by the tokens of its outcomes. `null` without wallets, without every
 * transfer of the tokens, and without a price.
 */
export function getOpenInterest(
  outcomes: readonly (readonly TokenId[])[],
  directory: Conditions,
): bigint | null {
  const tokenIds = outcomes.flat();
  if (tokenIds.length === 0 || !directory.contracts.wallets) return null;
  if (!tokenIds.every((id) => directory.isCompleteToken(id))) return null;
  const supply = outcomes.map((ids) =>
    ids.reduce((sum, id) => sum + getSupply(directory.getSupply(id)), 0n),
  );
  return valueOutcomes(
    supply,
    outcomes.map((ids) => getJoinedPrice(ids, directory)),
  );
}
