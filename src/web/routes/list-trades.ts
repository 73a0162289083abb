import { type Static, Type } from "typebox";
import { AppError } from "../../base/errors.ts";
import { type Fill, mirrorFill } from "../../market/fill.ts";
import { presentTrade, tradeRow } from "../../rows/trade-row.ts";
import type { FillFilter } from "../../store/fill-filter.ts";
import { readFills } from "../../store/read-fills.ts";
import { type Backend, keptUntilNews, rowContextOf } from "../backend.ts";
import { fillFilter, fillPage, fillQuery, positionAfter, tokenListQuery } from "../fill-query.ts";
import { answerPage, listOf } from "../list-answer.ts";
import { tokenId } from "../parameters.ts";
import { defineRoute, type Route } from "../route.ts";

const matchType = {
  match_type: Type.Optional(Type.Enum(["complementary", "mint", "merge", "direct"])),
};
const allQuery = Type.Object({ ...fillQuery, ...tokenListQuery, ...matchType });
const tokenQuery = Type.Object({
  ...fillQuery,
  ...matchType,
  include_complement: Type.Boolean({
    default: false,
    description: "Also the other token's trades, told on this one: price 1 - p, a buy is a sell",
  }),
});

const roles = ["maker", "direct"] as const;

/** Trades of all tokens. */
export function listTrades(backend: Backend): Route {
  return defineRoute({
    method: "GET",
    path: "/v1/trades",
    access: "read",
    summary: "Trades, newest first",
    querystring: allQuery,
    response: listOf(tradeRow),
    errors: ["INVALID_CURSOR", "SERVICE_UNAVAILABLE"],
    cacheControl: "private, max-age=1",
    kept: keptUntilNews(backend),
    handler: async ({ id: requestId, query }) => {
      const path = "/v1/trades";
      const filter = { ...fillFilter(query, backend), ...typeFilter(query), roles };
      const page = fillPage(filter, query, positionAfter(backend, path, query));
      const rows = await readFills(backend.store, page);
      const context = rowContextOf(backend);
      return answerPage(
        backend,
        { path, query, rows, positionOf: (fill) => [fill.seq] },
        { requestId, present: (fill) => presentTrade(fill, context) },
      );
    },
  });
}

/** Trades of one token, or of its pair told on that token. */
export function listTokenTrades(backend: Backend): Route {
  return defineRoute({
    method: "GET",
    path: "/v1/trades/market/{token_id}",
    access: "read",
    summary: "Trades of one token, newest first",
    params: Type.Object({ token_id: tokenId }),
    querystring: tokenQuery,
    response: listOf(tradeRow),
    errors: ["INVALID_CURSOR", "NOT_FOUND", "SERVICE_UNAVAILABLE"],
    cacheControl: "private, max-age=1",
    kept: keptUntilNews(backend),
    handler: async ({ id: requestId, params, query }) => {
      const asked = params.token_id;
      if (!backend.state.directory.isKnownToken(asked)) throw new AppError("NOT_FOUND");
      const path = `/v1/trades/market/${asked}`;
      const complement = query.include_complement
        ? backend.state.directory.complementOf(asked)
        : null;
      const pair = complement === null ? [asked] : [asked, complement];
      const filter = {
        ...fillFilter({ ...query, token_id: pair }, backend),
        ...typeFilter(query),
        ...(complement === null ? {} : { mirroredTokenId: complement }),
        roles,
      };
      const page = fillPage(filter, query, positionAfter(backend, path, query));
      const rows = await readFills(backend.store, page);
      const context = rowContextOf(backend);
      const told = (fill: Fill): Fill => (fill.tokenId === asked ? fill : mirrorFill(fill, asked));
      return answerPage(
        backend,
        { path, query, rows, positionOf: (fill) => [fill.seq] },
        { requestId, present: (fill) => presentTrade(told(fill), context) },
      );
    },
  });
}

function typeFilter({ match_type }: Static<typeof allQuery>): FillFilter {
  return match_type === undefined ? {} : { matchType: match_type };
}
