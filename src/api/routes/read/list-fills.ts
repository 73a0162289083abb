import { type Static, Type } from "typebox";
import { type Seq, type TokenId, toBlockNumber, toFirstSeq } from "../../../base/ids.ts";
import type { Fill } from "../../../market/fill.ts";
import type { FillFilter } from "../../../query/fill-filter.ts";
import { fillRow, toFillRow } from "../../../rows/fill-row.ts";
import { matchRow, toMatchRow } from "../../../rows/match-row.ts";
import type { Backend } from "../../backend.ts";
import {
  type FillParameters,
  fillParameters,
  fillSource,
  toFillFilter,
  tokenParameters,
} from "../../lists/fill-parameters.ts";
import { type ListParts, listRoute } from "../../lists/row-list.ts";
import type { Route } from "../../route/route.ts";

const fillListParameters = Type.Object({ ...fillParameters, ...tokenParameters });
/** A match has one taker and any number of makers. Makers are in its trades, so matches are not filtered by them. */
const { maker: _maker, wallet: _wallet, ...matchFilters } = fillParameters;
const matchListParameters = Type.Object({ ...matchFilters, ...tokenParameters });

/** Lists every `OrderFilled` as on the chain, both legs and summaries. */
export function listFills(parts: ListParts): Route {
  return listRoute(parts, {
    path: "/v1/fills",
    summary: "List fills",
    description: "Raw OrderFilled events, both sides of each match. To sum volume, use trades",
    querystring: fillListParameters,
    row: fillRow,
    toRow: toFillRow,
    getToken: ({ makerTokenId }: Fill) => makerTokenId,
    open: ({ query, path }) => fillSource(parts, orderFilter(query, parts), { path, query }),
  });
}

/** Lists matches, each with the sums of its legs. */
export function listMatches(parts: ListParts): Route {
  return listRoute(parts, {
    path: "/v1/matches",
    summary: "List matches",
    description: "One row for each taker order: what it received from all its makers",
    querystring: matchListParameters,
    row: matchRow,
    toRow: toMatchRow,
    getToken: ({ tokenId }: Fill) => tokenId,
    open: ({ query, path }) => fillSource(parts, summaryFilter(query, parts), { path, query }),
  });
}

/** Filters by token, side and value of the order, as a fill shows them. In a mint or merge, those of the trade differ. */
function orderFilter(query: FillParameters, backend: Backend): FillFilter {
  const { side, tokenIds: requested, valueMin, ...rest } = toFillFilter(query, backend);
  return {
    ...rest,
    makerSide: side,
    makerValueMin: valueMin,
    makerTokenIds: requested,
    ...(requested === undefined ? {} : tradedTokens(requested, backend)),
  };
}

/** Narrows the read to the requested tokens and their complements. Reads all if one has no complement. */
function tradedTokens(requested: readonly TokenId[], { state }: Backend): FillFilter {
  const pairs = requested.map((tokenId) => state.directory.getPair(tokenId));
  return pairs.some((pair) => pair.length === 1) ? {} : { tokenIds: pairs.flat() };
}

/** Filters the summaries of matches. A summary is the taker's order, right before the match in position. */
function summaryFilter(query: Static<typeof matchListParameters>, backend: Backend): FillFilter {
  const { taker, after_seq: afterSeq, ...rest } = query;
  const filter = toFillFilter(rest, backend);
  return {
    ...filter,
    ...(afterSeq !== undefined ? behind((afterSeq + 1) as Seq, filter) : {}),
    maker: taker,
    roles: ["taker"],
  };
}

/** Selects matches from a position on. `seqFrom` is the start of its block, by which the store finds them. */
function behind(from: Seq, { seqFrom = 0 as Seq }: FillFilter): FillFilter {
  const first = toFirstSeq(toBlockNumber(from));
  return { matchSeqFrom: from, seqFrom: first > seqFrom ? first : seqFrom };
}
