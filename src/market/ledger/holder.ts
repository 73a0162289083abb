/** Who holds a token, and how much of it there is. Amounts are micros. */
import type { Address, TokenId } from "../../base/ids.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import { parseGen3TokenId } from "../ids/gen3-ids.ts";
import { type BalanceChange, zeroAddress } from "./ledger-row.ts";

/** A holder of a token. `rank` counts the holders of this token, the largest first. */
export type Holder = {
  readonly tokenId: TokenId;
  readonly wallet: Address;
  readonly size: bigint;
  readonly rank: number;
};

/** The number of holders of a token. */
export type HolderCount = {
  readonly tokenId: TokenId;
  readonly holders: number;
  readonly holdersWithContracts: number;
};

/** How much of a token was minted and burnt, and how much of it is out of circulation, for good or in a module. */
export type SupplyChange = {
  readonly minted: bigint;
  readonly burnt: bigint;
  readonly withdrawn: bigint;
};

/** All changes of a supply so far, and the position of the last; -1 without any. */
export type TokenSupply = SupplyChange & { readonly seq: number };

export const noSupply: SupplyChange = { minted: 0n, burnt: 0n, withdrawn: 0n };

/** The shares that circulate. */
export function getSupply({ minted, burnt, withdrawn }: SupplyChange): bigint {
  return minted - burnt - withdrawn;
}

/** Adds two changes of a supply, modulo 2^256 as the store does. */
export function addSupply(one: SupplyChange, other: SupplyChange): SupplyChange {
  return {
    minted: BigInt.asIntN(256, one.minted + other.minted),
    burnt: BigInt.asIntN(256, one.burnt + other.burnt),
    withdrawn: BigInt.asIntN(256, one.withdrawn + other.withdrawn),
  };
}

/**
 * Returns the accounts whose balances are out of circulation: the burn address, and for legacy tokens the modules of
 * generation 3, which minted as many of their own.
 */
export function getWithdrawnAccounts({ byAddress }: Contracts, tokenId: TokenId): Address[] {
  const isLegacy = parseGen3TokenId(tokenId) === null;
  return [...byAddress.values()].flatMap(({ kind, address }) => {
    const isModule = kind === "binary_module" || kind === "neg_risk_module";
    return kind === "burn_address" || (isModule && isLegacy) ? [address] : [];
  });
}

/** Returns what a change of a balance does to the supply of its token. */
export function toSupplyChange(
  { wallet, tokenId, shares }: Pick<BalanceChange, "wallet" | "tokenId" | "shares">,
  contracts: Contracts,
): SupplyChange {
  if (wallet === zeroAddress)
    return shares < 0n ? { ...noSupply, minted: -shares } : { ...noSupply, burnt: shares };
  const isWithdrawn = getWithdrawnAccounts(contracts, tokenId).includes(wallet);
  return isWithdrawn ? { ...noSupply, withdrawn: shares } : noSupply;
}
