import { AppError } from "../../../../base/errors.ts";

/** Returns the error for an address that never held a token. */
export function unknownWallet(): AppError {
  return new AppError("NOT_FOUND", "This wallet was never seen");
}
