import { Readable } from "node:stream";
import { type Static, Type } from "typebox";
import { formatMicros } from "../../../base/decimal.ts";
import type { TokenId } from "../../../base/ids.ts";
import { namedToken } from "../../../base/input/client-texts.ts";
import { type BucketCandle, resolutionSeconds } from "../../../market/candle.ts";
import {
  type JoinedTokens,
  joinTokens,
  unknownToken,
} from "../../../query/markets/read-markets.ts";
import { type CandleRow, candleRow, toCandleRow } from "../../../rows/candle-row.ts";
import { decimalText, millisecondsNumber, nullable } from "../../../rows/wire-format.ts";
import { settlementPrice } from "../../../views/prices/token-price.ts";
import { type Backend, untilCandlesChange } from "../../backend.ts";
import { bulkQuery } from "../../bulk/bulk-format.ts";
import { checkRange, cursor, time } from "../../http/parameters.ts";
import { candleSource } from "../../lists/candle-file.ts";
import { type CandlePage, getFirstBucket, pageAfter } from "../../lists/candle-page.ts";
import { type ListParts, openList, publicAs } from "../../lists/row-list.ts";
import { getList, rangeMeta } from "../../route/list-answer.ts";
import { defineRoute, type Route } from "../../route/route.ts";

const resolutions = Object.keys(resolutionSeconds) as (keyof typeof resolutionSeconds)[];
const pageRows = 500;
const querystring = Type.Object({
  resolution: Type.Enum(resolutions, { default: "1h" }),
  start: Type.Optional(time),
  end: Type.Optional(time),
  ...bulkQuery({ pageRows }),
  cursor: Type.Optional(cursor),
  order: Type.Enum(["asc", "desc"], { default: "asc" }),
  fill: Type.Enum(["none", "previous"], { default: "none" }),
  source: Type.Enum(["pair", "own"], { default: "pair" }),
  include_mirror: Type.Boolean({ default: false }),
});
type CandleQuery = Static<typeof querystring>;

const candleMeta = Type.Object({
  ...rangeMeta.properties,
  resolution: Type.Enum(resolutions, { description: "Length of a bucket" }),
  first_candle_ms: nullable(millisecondsNumber),
  settlement: nullable(Type.Object({ price: decimalText, timestamp_ms: millisecondsNumber })),
});

/** Lists the candles of one token. */
export function listCandles(backend: ListParts): Route {
  return defineRoute({
    path: "/v1/candles/{token_id}",
    access: "read",
    summary: "List candles",
    description: "OHLCV candles of a token. Without start and end, the newest",
    params: Type.Object({ token_id: namedToken }),
    querystring,
    response: Type.Object({ ...getList(candleRow).properties, meta: candleMeta }),
    isBulk: true,
    getCachePolicy: ({ params: { token_id: tokenId }, query }) =>
      untilCandlesChange(backend, { tokenId, bucketSeconds: resolutionSeconds[query.resolution] }),
    isTagged: ({ data }) => (data as readonly CandleRow[]).every((row) => row.closed),
    handler: async ({ params, query }, reply) => {
      const requested = params.token_id;
      const { directory } = backend.state;
      if (!directory.isKnownToken(requested)) throw unknownToken();
      const joined = joinTokens(directory, requested, {
        complement: query.source === "pair",
        mirror: query.include_mirror,
      });
      const path = `/v1/candles/${requested}`;
      const page = getPage(joined, query, { backend, path });
      const source = candleSource(backend.facts, page, query.order);
      const present = (one: BucketCandle) => toCandleRow(one, page);
      const list = { path, query, pageRows, row: candleRow, source, ...publicAs(present) };
      const opened = await openList(backend, reply, list);
      if (opened instanceof Readable) return opened;
      const data = opened.rows.map(present);
      const first = getFirstBucket(page);
      const maxAge = isLasting(data, page) ? page.bucketSeconds : 1;
      void reply.header("cache-control", `private, max-age=${maxAge}`);
      return {
        data,
        pagination: opened.pagination,
        meta: {
          ...opened.meta,
          resolution: query.resolution,
          first_candle_ms: first === null ? null : first * 1000,
          settlement: getSettlement(joined.same, backend),
        },
      };
    },
  });
}

/** Returns whether later trades cannot change a page: all its candles are closed, or it is empty and in the past. */
function isLasting(rows: readonly CandleRow[], { to, now }: CandlePage): boolean {
  return rows.length === 0 ? to <= now : rows.every((row) => row.closed);
}

/** Returns the page to read. Without `start` and `end`, pages go back from the newest candle, otherwise in `order`. */
function getPage(
  tokens: JoinedTokens,
  query: CandleQuery,
  { backend, path }: { backend: Backend; path: string },
): CandlePage {
  const { start, end, limit = pageRows } = query;
  checkRange(query, ["start", "end"]);
  const bucketSeconds = resolutionSeconds[query.resolution];
  const bucketAt = (timeMs: number): number =>
    Math.ceil(timeMs / 1000 / bucketSeconds) * bucketSeconds;
  const order = start !== undefined || end !== undefined ? query.order : "desc";
  const from = start !== undefined ? bucketAt(start) : 0;
  const to = end !== undefined ? bucketAt(end) : Number.MAX_SAFE_INTEGER;
  const now = backend.state.dayWindow.now;
  const fillForward = query.fill === "previous";
  const getTotals = (id: TokenId) => backend.state.directory.getTotals(id);
  const whole = { ...tokens, bucketSeconds, order, limit, fillForward, getTotals, now, from, to };
  const position = backend.cursors.decode(path, query);
  return position === null ? whole : pageAfter(whole, Number(position[0]));
}

function getSettlement(
  tokenIds: readonly TokenId[],
  { state: { directory } }: Backend,
): { price: string; timestamp_ms: number } | null {
  const settled = settlementPrice(tokenIds, directory);
  if (settled === null) return null;
  const { price, resolution } = settled;
  return { price: formatMicros(price), timestamp_ms: resolution.timestamp * 1000 };
}
