import { Type } from "typebox";
import { AppError } from "../../../base/errors.ts";
import { address } from "../../../base/input/client-texts.ts";
import { readWallet } from "../../../query/wallets/read-wallet.ts";
import { toWalletRow, walletRow } from "../../../rows/wallet-row.ts";
import type { Backend } from "../../backend.ts";
import { oneOf } from "../../route/list-answer.ts";
import { defineRoute, type Route } from "../../route/route.ts";

/** Returns the trading totals of a wallet. */
export function getWallet({ facts, state: { directory } }: Backend): Route {
  return defineRoute({
    path: "/v1/wallets/{address}",
    access: "read",
    summary: "Get a wallet",
    description: "What one wallet has traded, in total and by market",
    params: Type.Object({ address }),
    response: oneOf(walletRow),
    cacheControl: "private, max-age=10",
    handler: async ({ params }) => {
      const { markets, truncated } = await readWallet({ facts, directory }, params.address);
      if (markets.length === 0) throw new AppError("NOT_FOUND", "This wallet has no trades");
      return { data: toWalletRow(params.address, markets, { directory, truncated }) };
    },
  });
}
