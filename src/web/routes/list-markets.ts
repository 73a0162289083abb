import { marketRow, presentMarket } from "../../rows/market-row.ts";
import type { Backend } from "../backend.ts";
import { answerPage, listOf } from "../list-answer.ts";
import { isBehind, marketQuery, positionOf, selectMarkets } from "../market-query.ts";
import { defineRoute, type Route } from "../route.ts";

/** Markets, by volume unless asked otherwise. */
export function listMarkets(backend: Backend): Route {
  const path = "/v1/markets";
  return defineRoute({
    method: "GET",
    path,
    access: "read",
    summary: "Markets, with search, filters and pagination",
    querystring: marketQuery,
    response: listOf(marketRow),
    errors: ["INVALID_CURSOR"],
    cacheControl: "private, max-age=300",
    handler: ({ id: requestId, query }) => {
      const candidates = selectMarkets(backend.state, query);
      const position =
        query.cursor === undefined ? null : backend.cursors.decode(path, query, query.cursor);
      const rows =
        position === null
          ? candidates
          : candidates.filter((candidate) => isBehind(candidate, query, position));
      return answerPage(
        backend,
        { path, query, rows, positionOf: (candidate) => positionOf(candidate, query) },
        { requestId, present: ({ market }) => presentMarket(market, backend.state) },
      );
    },
  });
}
