import { Type } from "typebox";
import type { Clock } from "../../../base/time/clock.ts";
import { getMarketRow } from "../../../query/markets/market-rows.ts";
import { readMarketList, requireMarket } from "../../../query/markets/read-markets.ts";
import { marketRow, toEventSummaryRow } from "../../../rows/market-row.ts";
import { updateDayChanges } from "../../../views/prices/day-change.ts";
import type { Backend } from "../../backend.ts";
import { MarketLists } from "../../lists/market-lists.ts";
import { marketPageRows, marketParameters, toSelection } from "../../lists/market-parameters.ts";
import { type ListParts, listRoute } from "../../lists/row-list.ts";
import { toObjectShape } from "../../route/list-answer.ts";
import { defineRoute, type Route } from "../../route/route.ts";

/** Lists markets, by default in descending order of 24h volume. */
export function listMarkets(parts: ListParts, clock: Clock): Route {
  const lists = new MarketLists(parts, clock);
  const { state } = parts;
  return listRoute(parts, {
    path: "/v1/markets",
    summary: "List markets",
    description: "Markets with totals and prices. Search, filter, sort and export them",
    querystring: marketParameters,
    pageRows: marketPageRows,
    row: marketRow,
    cacheControl: "private, max-age=300",
    isTagged: () => true,
    open: async ({ query, path }) => {
      if (query.sort === "change_24h") await updateDayChanges(state);
      return lists.open({
        path,
        query,
        open: (hits) => readMarketList(parts, { ...toSelection(state, query), hits }),
        present: (conditionId) => {
          const market = state.directory.market(conditionId);
          // While a file is sent, a listed market can become the mirror of another one.
          if (market === null || market.conditionId !== conditionId) return null;
          const row = getMarketRow(market, state);
          return query.include === "event" ? { ...row, event: toEventSummaryRow(market) } : row;
        },
      });
    },
  });
}

/** Returns one market by condition id, token id or slug. */
export function getMarket(backend: Backend): Route {
  return defineRoute({
    path: "/v1/markets/{id}",
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
