import { Type } from "typebox";
import { getMarketRow } from "../../../query/markets/market-rows.ts";
import { requireMarket } from "../../../query/markets/read-markets.ts";
import { marketRow } from "../../../rows/market-row.ts";
import type { Backend } from "../../backend.ts";
import { toObjectShape } from "../../route/list-answer.ts";
import { defineRoute, type Route } from "../../route/route.ts";

/** Returns one market by condition id, token id or slug. */
export function getMarket(backend: Backend): Route {
  return defineRoute({
    path: "/v1/markets/{id}",
    access: "read",
    summary: "Get a market",
    description: "One market by condition id, token id or slug",
    params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 200 }) }),
    response: toObjectShape(marketRow),
    cacheControl: "private, max-age=300",
    isTagged: () => true,
    handler: ({ params: { id } }) => {
      return { data: getMarketRow(requireMarket(backend, id), backend.state) };
    },
  });
}
