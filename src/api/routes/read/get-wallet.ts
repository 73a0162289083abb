import { Type } from "typebox";
import { AppError } from "../../../base/errors.ts";
import type { ConditionId } from "../../../base/ids.ts";
import { mapInTurns } from "../../../base/time/turns.ts";
import { readWallet, walletTokensMax } from "../../../query/read-wallet.ts";
import {
  addTotals,
  presentWallet,
  type WalletMarket,
  walletRow,
} from "../../../rows/wallet-row.ts";
import type { Backend } from "../../backend.ts";
import { address } from "../../http/parameters.ts";
import { defineRoute, type Route } from "../../http/route.ts";
import { oneOf } from "../../lists/list-answer.ts";
import { metaOf } from "../../meta.ts";

/** What a wallet has traded. */
export function getWallet(backend: Backend): Route {
  const { directory } = backend.state;
  return defineRoute({
    method: "GET",
    path: "/v1/wallets/{address}",
    access: "read",
    summary: "What one wallet has traded, in all and by market",
    params: Type.Object({ address }),
    response: oneOf(walletRow),
    errors: ["NOT_FOUND", "SERVICE_UNAVAILABLE"],
    cacheControl: "private, max-age=10",
    handler: async ({ id: requestId, params }) => {
      const fresh = backend.freshness();
      const tokens = await readWallet(backend.store, params.address);
      if (tokens.size === 0) throw new AppError("NOT_FOUND");
      const markets = new Map<ConditionId | string, WalletMarket>();
      await mapInTurns(tokens, ([tokenId, more]) => {
        const conditionId = directory.placeOf(tokenId)?.conditionId ?? null;
        const before = markets.get(conditionId ?? tokenId);
        const totals = before === undefined ? more : addTotals(before.totals, more);
        markets.set(conditionId ?? tokenId, { conditionId, totals });
      });
      const truncated = tokens.size >= walletTokensMax;
      const data = presentWallet(params.address, [...markets.values()], { directory, truncated });
      return { data, meta: metaOf(requestId, fresh) };
    },
  });
}
