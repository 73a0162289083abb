import { type Static, Type } from "typebox";
import { requireMarket } from "../../../../query/markets/read-markets.ts";
import {
  getTotalInterest,
  readOpenInterest,
} from "../../../../query/wallets/read-open-interest.ts";
import {
  type InterestPoint,
  openInterestRow,
  type TotalInterestPoint,
  toOpenInterestRow,
  toTotalInterestRow,
  totalInterestRow,
} from "../../../../rows/wallets/open-interest-row.ts";
import { untilChange } from "../../../backend.ts";
import { checkRange } from "../../../http/parameters.ts";
import { bucketQuery } from "../../../lists/bucket-query.ts";
import {
  answerList,
  type ListParts,
  publicAs,
  type RowSource,
  rowListRoute,
} from "../../../lists/row-list.ts";
import type { CursorPosition } from "../../../route/cursor.ts";
import { getPage } from "../../../route/list-answer.ts";
import { defineRoute, type Route } from "../../../route/route.ts";
import { checkWallets } from "./check-wallets.ts";

const resolutionSeconds = { "1h": 3600, "4h": 14_400, "1d": 86_400 } as const;
const pageRows = 500;

const querystring = bucketQuery(resolutionSeconds, pageRows);
type InterestQuery = Static<typeof querystring>;

/** Lists the open interest of a market over time. */
export function listOpenInterest(parts: ListParts): Route {
  const { facts, state } = parts;
  const { directory } = state;
  return defineRoute({
    ...rowListRoute(openInterestRow),
    path: "/v1/markets/{id}/open-interest",
    summary: "List open interest",
    description:
      "Supply, open interest and collateral at the end of each bucket, from the first mint on. Without start and end, the newest",
    params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 200 }) }),
    querystring,
    getCachePolicy: () => untilChange(parts),
    handler: async ({ params, query }, reply) => {
      checkWallets(parts);
      checkRange(query, ["start", "end"]);
      const market = requireMarket(parts, params.id);
      const path = `/v1/markets/${market.conditionId}/open-interest`;
      const [edge] = parts.cursors.decode(path, query) ?? [];
      const page = getBuckets(query, edge === undefined ? null : Number(edge));
      const { now } = state.dayWindow;
      const source = getSource<InterestPoint>(page.order !== query.order, (limit) =>
        readOpenInterest({ facts, directory }, market, { ...page, limit, now }),
      );
      const list = { path, query, pageRows, row: openInterestRow, source };
      return answerList(parts, reply, { ...list, ...publicAs(toOpenInterestRow) });
    },
  });
}

/** Lists the collateral behind all positions over time. */
export function listTotalOpenInterest(parts: ListParts): Route {
  const { facts, state } = parts;
  const { directory } = state;
  const path = "/v1/open-interest";
  return defineRoute({
    ...rowListRoute(totalInterestRow),
    path,
    summary: "List open interest of all markets",
    description:
      "The collateral behind all positions at the end of each bucket, from the first split on. Without start and end, the newest",
    querystring,
    getCachePolicy: () => untilChange(parts),
    handler: async ({ query }, reply) => {
      checkWallets(parts);
      checkRange(query, ["start", "end"]);
      const [edge] = parts.cursors.decode(path, query) ?? [];
      const page = getBuckets(query, edge === undefined ? null : Number(edge));
      const { now } = state.dayWindow;
      const source = getSource<TotalInterestPoint>(page.order !== query.order, async (limit) =>
        getTotalInterest({ facts, directory }, { ...page, limit, now }),
      );
      const list = { path, query, pageRows, row: totalInterestRow, source };
      return answerList(parts, reply, { ...list, ...publicAs(toTotalInterestRow) });
    },
  });
}

function getSource<Point extends { readonly bucket: number }>(
  isReversed: boolean,
  first: (limit: number) => Promise<readonly Point[]>,
): RowSource<Point> {
  const toPosition = ({ bucket }: Point): CursorPosition => [bucket];
  return {
    first,
    toPosition,
    openAll: async (rowsMax) => {
      const { rows, edge } = getPage(await first(rowsMax + 1), rowsMax, toPosition);
      return { rowCount: rows.length, edge, chunks: [isReversed ? rows.toReversed() : rows] };
    },
    isReversed,
  };
}

/** Returns the buckets after `edge`. Without `start` and `end`, pages go back from the newest, otherwise in `order`. */
function getBuckets(
  { resolution, start, end, order: requested }: InterestQuery,
  edge: number | null,
) {
  const bucketSeconds = resolutionSeconds[resolution];
  const order = start === undefined && end === undefined ? "desc" : requested;
  const toBucket = (ms: number) => Math.ceil(ms / 1000 / bucketSeconds) * bucketSeconds;
  const from = start === undefined ? 0 : toBucket(start);
  const to = end === undefined ? Number.MAX_SAFE_INTEGER : toBucket(end);
  const isRising = order === "asc";
  return {
    bucketSeconds,
    order,
    from: edge === null || !isRising ? from : edge + bucketSeconds,
    to: edge === null || isRising ? to : edge,
  } as const;
}
