import { AppError } from "../../../../base/errors.ts";
import type { Backend } from "../../../backend.ts";

/** Throws `NOT_FOUND` when token transfers are not indexed. */
export function checkWallets({ state }: Backend): void {
  if (state.directory.contracts.wallets) return;
  throw new AppError("NOT_FOUND", "Wallets are not indexed: ODDWIRE_WALLETS is off");
}

/** Returns the error for an address that never held a token. */
export function unknownWallet(): AppError {
  return new AppError("NOT_FOUND", "This wallet was never seen");
}
