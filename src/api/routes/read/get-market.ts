import { Type } from "typebox";
import { AppError } from "../../../base/errors.ts";
import { getMarketRow } from "../../../query/markets/market-rows.ts";
import { readMarket } from "../../../query/markets/read-markets.ts";
import { marketRow } from "../../../rows/market-row.ts";
import type { Backend } from "../../backend.ts";
import { oneOf } from "../../route/list-answer.ts";
import { defineRoute, type Route } from "../../route/route.ts";

/** Returns one market by condition id, token id or slug. */
export function getMarket(backend: Backend): Route {
  return defineRoute({
    path: "/v1/markets/{id}",
    access: "read",
    summary: "Get a market",
    description: "One market by condition id, token id or slug",
    params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 200 }) }),
    response: oneOf(marketRow),
    cacheControl: "private, max-age=300",
    isTagged: () => true,
    handler: ({ params: { id } }) => {
      const market = readMarket(backend, id);
      if (market === null)
        throw new AppError("NOT_FOUND", "No market has this id, token id or slug");
      return { data: getMarketRow(market, backend.state) };
    },
  });
}
