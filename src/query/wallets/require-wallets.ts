import { AppError } from "../../base/errors.ts";
import type { Contracts } from "../../contracts/contracts.ts";

/** Throws `NOT_FOUND` when token transfers are not indexed. */
export function requireWallets({ wallets }: Pick<Contracts, "wallets">): void {
  if (!wallets) throw new AppError("NOT_FOUND", "Wallets are not indexed: ODDWIRE_WALLETS is off");
}
