import { Type } from "typebox";
import { fillRow, presentFill } from "../../rows/fill-row.ts";
import { matchRow, presentMatch } from "../../rows/match-row.ts";
import { readFills } from "../../store/read-fills.ts";
import { type Backend, rowContextOf } from "../backend.ts";
import { fillFilter, fillPage, fillQuery, positionAfter, tokenListQuery } from "../fill-query.ts";
import { answerPage, listOf } from "../list-answer.ts";
import { defineRoute, type Route } from "../route.ts";

const querystring = Type.Object({ ...fillQuery, ...tokenListQuery });
const common = {
  method: "GET",
  access: "read",
  querystring,
  errors: ["INVALID_CURSOR", "SERVICE_UNAVAILABLE"],
  cacheControl: "private, max-age=1",
} as const;

/** Every `OrderFilled`, legs and summaries, as on the chain. */
export function listFills(backend: Backend): Route {
  const path = "/v1/fills";
  return defineRoute({
    ...common,
    path,
    summary: "Every OrderFilled as on the chain, both legs; for volume use trades",
    response: listOf(fillRow),
    handler: async ({ id: requestId, query }) => {
      const page = fillPage(fillFilter(query, backend), query, positionAfter(backend, path, query));
      const rows = await readFills(backend.store, page);
      const context = rowContextOf(backend);
      return answerPage(
        backend,
        { path, query, rows, positionOf: (fill) => [fill.seq] },
        { requestId, present: (fill) => presentFill(fill, context) },
      );
    },
  });
}

/** Matches, each with the sums of its legs. */
export function listMatches(backend: Backend): Route {
  const path = "/v1/matches";
  return defineRoute({
    ...common,
    path,
    summary: "Matches: what each taker order got from all its legs",
    response: listOf(matchRow),
    handler: async ({ id: requestId, query }) => {
      const filter = { ...fillFilter(query, backend), roles: ["taker"] as const };
      const page = fillPage(filter, query, positionAfter(backend, path, query));
      const rows = await readFills(backend.store, page);
      const context = rowContextOf(backend);
      return answerPage(
        backend,
        { path, query, rows, positionOf: (fill) => [fill.seq] },
        { requestId, present: (fill) => presentMatch(fill, context) },
      );
    },
  });
}
