import { type Static, Type } from "typebox";
import { AppError } from "../../base/errors.ts";
import { type Fill, mirrorFill } from "../../market/fill.ts";
import { presentTrade, tradeRow } from "../../rows/trade-row.ts";
import type { FillFilter } from "../../store/fill-filter.ts";
import { readFills } from "../../store/read-fills.ts";
import { type Backend, keptUntilNews, rowContextOf } from "../backend.ts";
import type { BulkAnswers, BulkRequest } from "../bulk/bulk-answers.ts";
import { bulkQuery, type FileFormatName } from "../bulk/bulk-format.ts";
import { openBulkTrades } from "../bulk/bulk-trades.ts";
import {
  fillFilter,
  fillList,
  fillPage,
  fillQuery,
  positionAfter,
  tokenListQuery,
} from "../fill-query.ts";
import { answerPage, listOf } from "../list-answer.ts";
import { tokenId } from "../parameters.ts";
import { defineRoute, type Route } from "../route.ts";

const matchType = {
  match_type: Type.Optional(Type.Enum(["complementary", "mint", "merge", "direct"])),
};
const pageRows = 100;
const tradeQuery = { ...fillQuery, ...bulkQuery(pageRows), ...matchType };
const allQuery = Type.Object({ ...tradeQuery, ...tokenListQuery });
const tokenQuery = Type.Object({
  ...tradeQuery,
  include_complement: Type.Boolean({
    default: false,
    description: "Also the other token's trades, told on this one: price 1 - p, a buy is a sell",
  }),
});

const roles = ["maker", "direct"] as const;

/** Trades of all tokens. */
export function listTrades(backend: Backend, bulk: BulkAnswers): Route {
  return defineRoute({
    method: "GET",
    path: "/v1/trades",
    access: "read",
    summary: "Trades, newest first",
    querystring: allQuery,
    response: listOf(tradeRow),
    isBulk: true,
    errors: ["INVALID_CURSOR", "SERVICE_UNAVAILABLE"],
    cacheControl: "private, max-age=1",
    kept: keptUntilNews(backend),
    handler: async (request, reply) => {
      const { query } = request;
      const filter = { ...fillFilter(query, backend), ...typeFilter(query), roles };
      const list = { path: "/v1/trades", query, filter, told: (fill: Fill) => fill };
      return query.format === "json"
        ? answerTrades(backend, list, request.id)
        : bulk.answer({ request, reply }, tradesFile({ backend, bulk }, list, query.format));
    },
  });
}

/** Trades of one token, or of its pair told on that token. */
export function listTokenTrades(backend: Backend, bulk: BulkAnswers): Route {
  return defineRoute({
    method: "GET",
    path: "/v1/trades/market/{token_id}",
    access: "read",
    summary: "Trades of one token, newest first",
    params: Type.Object({ token_id: tokenId }),
    querystring: tokenQuery,
    response: listOf(tradeRow),
    isBulk: true,
    errors: ["INVALID_CURSOR", "NOT_FOUND", "SERVICE_UNAVAILABLE"],
    cacheControl: "private, max-age=1",
    kept: keptUntilNews(backend),
    handler: async (request, reply) => {
      const { params, query } = request;
      const asked = params.token_id;
      const { directory } = backend.state;
      if (!directory.isKnownToken(asked)) throw new AppError("NOT_FOUND");
      const complement = query.include_complement ? directory.complementOf(asked) : null;
      const pair = complement === null ? [asked] : [asked, complement];
      const filter = {
        ...fillFilter({ ...query, token_id: pair }, backend),
        ...typeFilter(query),
        ...(complement === null ? {} : { mirroredTokenId: complement }),
        roles,
      };
      const told = (fill: Fill): Fill => (fill.tokenId === asked ? fill : mirrorFill(fill, asked));
      const list = { path: `/v1/trades/market/${asked}`, query, filter, told };
      return query.format === "json"
        ? answerTrades(backend, list, request.id)
        : bulk.answer({ request, reply }, tradesFile({ backend, bulk }, list, query.format));
    },
  });
}

type TradeList = {
  readonly path: string;
  readonly query: Static<typeof allQuery> | Static<typeof tokenQuery>;
  readonly filter: FillFilter;
  readonly told: (fill: Fill) => Fill;
};

async function answerTrades(backend: Backend, list: TradeList, requestId: string) {
  const { path, filter, told } = list;
  const query = { ...list.query, limit: list.query.limit ?? pageRows };
  const page = fillPage(filter, query, positionAfter(backend, path, query));
  const rows = await readFills(backend.store, page);
  const context = rowContextOf(backend);
  return answerPage(
    backend,
    { path, query, rows, positionOf: (fill) => [fill.seq] },
    { requestId, present: (fill) => presentTrade(told(fill), context) },
  );
}

function tradesFile(
  { backend, bulk }: { backend: Backend; bulk: BulkAnswers },
  { path, query, filter, told }: TradeList,
  format: FileFormatName,
): BulkRequest {
  const list = fillList(filter, query, positionAfter(backend, path, query));
  return {
    format,
    row: tradeRow,
    name: "trades",
    open: async () => openBulkTrades(backend, { path, query, list, told }, bulk.rowsMax),
  };
}

function typeFilter({ match_type }: Pick<Static<typeof allQuery>, "match_type">): FillFilter {
  return match_type === undefined ? {} : { matchType: match_type };
}
