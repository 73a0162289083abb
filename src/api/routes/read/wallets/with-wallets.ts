import { AppError } from "../../../../base/errors.ts";
import { requireWallets } from "../../../../query/wallets/require-wallets.ts";
import type { Backend } from "../../../backend.ts";
import type { Route } from "../../../route/route.ts";

/** Lets a route that needs wallets refuse all requests when they are not indexed. */
export function withWallets(route: Route, { state: { directory } }: Backend): Route {
  if (route.needsWallets !== true || directory.contracts.wallets) return route;
  return { ...route, handler: () => requireWallets(directory.contracts) };
}

/** Returns the error for an address that never held a token. */
export function unknownWallet(): AppError {
  return new AppError("NOT_FOUND", "This wallet was never seen");
}
