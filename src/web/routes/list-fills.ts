import { type Static, Type } from "typebox";
import { blockNumberOf, firstSeqOf, type Seq, type TokenId } from "../../base/ids.ts";
import { isGiven } from "../../base/optional.ts";
import { fillRow, presentFill } from "../../rows/fill-row.ts";
import { matchRow, presentMatch } from "../../rows/match-row.ts";
import type { FillFilter } from "../../store/fill-filter.ts";
import { readFills } from "../../store/read-fills.ts";
import { type Backend, rowContextOf } from "../backend.ts";
import {
  type FillQuery,
  fillFilter,
  fillPage,
  fillQuery,
  positionAfter,
  tokenListQuery,
} from "../fill-query.ts";
import { answerPage, listOf } from "../list-answer.ts";
import { defineRoute, type Route } from "../route.ts";

const fillListQuery = Type.Object({ ...fillQuery, ...tokenListQuery });
/** A match has one taker and any number of makers, who are told by its trades. */
const { maker: _maker, wallet: _wallet, ...matchFilters } = fillQuery;
const matchListQuery = Type.Object({ ...matchFilters, ...tokenListQuery });
const common = {
  method: "GET",
  access: "read",
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
    querystring: fillListQuery,
    response: listOf(fillRow),
    handler: async ({ id: requestId, query }) => {
      const filter = orderFilter(query, backend);
      const page = fillPage(filter, query, positionAfter(backend, path, query));
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
    querystring: matchListQuery,
    response: listOf(matchRow),
    handler: async ({ id: requestId, query }) => {
      const filter = summaryFilter(query, backend);
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

/** Fills are told as their orders were: on a mint or a merge token and side are the maker's own. */
function orderFilter(query: FillQuery, backend: Backend): FillFilter {
  const { side, tokenIds: asked, ...rest } = fillFilter(query, backend);
  return {
    ...rest,
    ...(isGiven(side) ? { makerSide: side } : {}),
    ...(isGiven(asked) ? { makerTokenIds: asked, ...tradedTokens(asked, backend) } : {}),
  };
}

/** Fills are found by the token that was traded: that of the order, or the other of its pair. */
function tradedTokens(asked: readonly TokenId[], { state }: Backend): FillFilter {
  const others = asked.map((tokenId) => state.directory.complementOf(tokenId));
  const known = others.filter((tokenId) => tokenId !== null);
  return known.length < others.length ? {} : { tokenIds: [...asked, ...known] };
}

/** The summary of a match is an order of its taker, right below the match in position. */
function summaryFilter(query: Static<typeof matchListQuery>, backend: Backend): FillFilter {
  const { taker, after_seq: afterSeq, ...rest } = query;
  const filter = fillFilter(rest, backend);
  return {
    ...filter,
    ...(isGiven(afterSeq) ? behind((afterSeq + 1) as Seq, filter) : {}),
    ...(isGiven(taker) ? { maker: taker } : {}),
    roles: ["taker"],
  };
}

/** Matches from a position on; the store finds them by their block. */
function behind(from: Seq, { seqFrom = 0 as Seq }: FillFilter): FillFilter {
  const first = firstSeqOf(blockNumberOf(from));
  return { matchSeqFrom: from, seqFrom: first > seqFrom ? first : seqFrom };
}
