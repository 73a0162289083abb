/**
 * The collateral behind all positions of a token contract. `balance_changes` has it as a balance of the account that
 * holds it, under the address of the collateral instead of a token id. As with the supply of a token, what came is
 * negative and what was paid out positive, never netted.
 */
import type { Address, TokenId } from "../../base/ids.ts";
import type { Contract, Contracts } from "../../contracts/contracts.ts";
import type { PositionsChanged } from "../../contracts/events.ts";
import { zeroAddress } from "./ledger-row.ts";

/** What positions are backed by: standard and neg-risk ones of ConditionalTokens, and those of generation 3. */
export const collateralPools = ["standard", "neg_risk", "protocol_v2"] as const;
export type CollateralPool = (typeof collateralPools)[number];

/** Returns the account of a pool; `null` when its contract is not configured. */
export function getPoolAccount(
  { byAddress, wrappedCollateral }: Contracts,
  pool: CollateralPool,
): Address | null {
  if (pool === "neg_risk") return wrappedCollateral;
  const kind = pool === "standard" ? "conditional_tokens" : "position_manager";
  return byAddress.values().find((contract) => contract.kind === kind)?.address ?? null;
}

/** Returns the id under which collateral is stored. No token has it: token ids are hashes, or begin with a module. */
export function getCollateralId({ collateral }: Pick<Contracts, "collateral">): TokenId {
  return `0x${collateral.slice(2).padStart(64, "0")}` as TokenId;
}

/**
 * Returns the pool from which an event pays. `null` for positions of other collateral, and for those that are made of
 * other positions (`hasOther`). A neg-risk operation counts by the event of its adapter.
 */
export function getPool(
  { basis }: PositionsChanged,
  { contract, hasOther }: { readonly contract: Contract; readonly hasOther: boolean },
  { collateral }: Contracts,
): CollateralPool | null {
  if (contract.kind === "neg_risk_adapter") return "neg_risk";
  if (contract.kind !== "conditional_tokens") return "protocol_v2";
  const isOwn = basis?.collateral === collateral && basis.parentCollectionId === null;
  return isOwn && !hasOther ? "standard" : null;
}

/** Returns the accounts whose balances decide supplies and collateral. */
export function getSupplyAccounts(contracts: Contracts): ReadonlySet<Address> {
  const kinds = new Set<Contract["kind"]>(["burn_address", "binary_module", "neg_risk_module"]);
  const withdrawn = contracts.byAddress.values().filter(({ kind }) => kinds.has(kind));
  const pools = collateralPools.map((pool) => getPoolAccount(contracts, pool));
  return new Set([
    zeroAddress,
    ...withdrawn.map(({ address }) => address),
    ...pools.filter((account) => account !== null),
  ]);
}
