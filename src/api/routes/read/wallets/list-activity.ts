import { Type } from "typebox";
import { address, amount, conditionId, namedToken } from "../../../../base/input/client-texts.ts";
import { storedActivity } from "../../../../query/wallets/read-activity.ts";
import { isWallet } from "../../../../query/wallets/read-wallet.ts";
import {
  activityKinds,
  activityRoles,
  activityRow,
  toActivityRow,
} from "../../../../rows/wallets/activity-row.ts";
import { untilChange } from "../../../backend.ts";
import {
  listOrder,
  rangeParameters,
  requestedTokens,
  toRangeFilter,
} from "../../../lists/fill-parameters.ts";
import { type ListParts, listRoute, storedSource } from "../../../lists/row-list.ts";
import type { Route } from "../../../route/route.ts";
import { unknownWallet } from "./with-wallets.ts";

const querystring = Type.Object({
  ...rangeParameters,
  kind: Type.Optional(Type.Array(Type.Enum([...activityKinds]), { minItems: 1, maxItems: 20 })),
  side: Type.Optional(Type.Enum(["BUY", "SELL"])),
  role: Type.Optional(Type.Enum([...activityRoles])),
  condition_id: Type.Optional(conditionId),
  token_id: Type.Optional(Type.Array(namedToken, { minItems: 1, maxItems: 100 })),
  min_value: Type.Optional(amount),
});

/** Lists what a wallet did: trades, splits, merges, redemptions, conversions and transfers. */
export function listActivity(parts: ListParts): Route {
  return listRoute(parts, {
    needsWallets: true,
    path: "/v1/wallets/{address}/activity",
    summary: "List activity of a wallet",
    description: "Every change of what a wallet holds, with its cause, newest first",
    params: Type.Object({ address }),
    querystring,
    row: activityRow,
    toRow: toActivityRow,
    getCachePolicy: () => untilChange(parts),
    open: async ({ params, query, path }) => {
      const { kind: kinds, side, role, min_value: valueMin } = query;
      const tokenIds = requestedTokens(query, parts.state);
      const filter = { ...toRangeFilter(query), kinds, side, role, valueMin, tokenIds };
      const order = listOrder(parts, { path, query });
      const list = storedActivity({ ...order, wallets: [params.address], filter });
      if (!(await isWallet(parts.facts, params.address))) throw unknownWallet();
      return storedSource(parts.facts, list);
    },
  });
}
