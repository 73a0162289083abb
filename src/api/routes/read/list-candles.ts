import { type Static, Type } from "typebox";
import { formatMicros } from "../../../base/decimal.ts";
import { formatTokenId, type TokenId } from "../../../base/ids.ts";
import { namedToken } from "../../../base/input/client-texts.ts";
import { type BucketCandle, resolutionSeconds } from "../../../market/candle.ts";
import { reachesBeforeFirst } from "../../../query/before-first.ts";
import {
  type JoinedTokens,
  joinTokens,
  unknownToken,
} from "../../../query/markets/read-markets.ts";
import { candleRow, toCandleRow } from "../../../rows/candle-row.ts";
import {
  decimalText,
  millisecondsNumber,
  nullable,
  tokenIdText,
} from "../../../rows/wire-format.ts";
import { settlementPrice } from "../../../views/prices/token-price.ts";
import { type Backend, untilCandlesChange } from "../../backend.ts";
import { listParameters } from "../../bulk/bulk-format.ts";
import { checkRange, time } from "../../http/parameters.ts";
import { toBucketPage, toBuckets } from "../../lists/bucket-parameters.ts";
import {
  type CandlePage,
  candleSource,
  getFirstBucket,
  readNewestCandles,
} from "../../lists/candle-page.ts";
import { type ListParts, listRoute, publicAs } from "../../lists/row-list.ts";
import { paginationSchema, rangeMeta } from "../../route/list-answer.ts";
import { WrittenJson } from "../../route/response-cache.ts";
import { defineRoute, type Route } from "../../route/route.ts";

const resolutions = Object.keys(resolutionSeconds) as (keyof typeof resolutionSeconds)[];
const pageRows = 500;
const chosen = {
  resolution: Type.Enum(resolutions, { default: "1h" }),
  start: Type.Optional(time),
  end: Type.Optional(time),
  fill: Type.Enum(["none", "previous"], { default: "none" }),
  source: Type.Enum(["pair", "own"], { default: "pair" }),
  include_mirror: Type.Boolean({ default: false }),
};
const querystring = Type.Object({
  ...chosen,
  ...listParameters({ pageRows }),
  order: Type.Enum(["asc", "desc"], { default: "asc" }),
});
type CandleParameters = Static<typeof querystring>;

const tokensMax = 50;
const manyParameters = Type.Object({
  token_ids: Type.Array(namedToken, { minItems: 1, maxItems: tokensMax }),
  ...chosen,
  limit: Type.Integer({
    minimum: 1,
    maximum: 100,
    default: 100,
    description: "The most candles of each token: the newest",
  }),
});

const candleMeta = Type.Object({
  ...rangeMeta.properties,
  resolution: Type.Enum(resolutions, { description: "Length of a bucket" }),
  first_candle_ms: nullable(millisecondsNumber),
  settlement: nullable(Type.Object({ price: decimalText, timestamp_ms: millisecondsNumber })),
});

/** Lists the candles of one token. */
export function listCandles(backend: ListParts): Route {
  return listRoute(backend, {
    path: "/v1/candles/{token_id}",
    summary: "List candles",
    description: "OHLCV candles of a token. Without start and end, the newest",
    params: Type.Object({ token_id: namedToken }),
    querystring,
    pageRows,
    row: candleRow,
    meta: candleMeta,
    cacheControl: "no-store",
    getCachePolicy: ({ params: { token_id: tokenId }, query }) =>
      untilCandlesChange(backend, { tokenId, bucketSeconds: resolutionSeconds[query.resolution] }),
    isTagged: ({ data }) => data instanceof WrittenJson && !data.text.includes('"closed":false'),
    open: ({ params, query, path }, reply) => {
      const requested = params.token_id;
      const { directory } = backend.state;
      if (!directory.isKnownToken(requested)) throw unknownToken();
      const joined = join(requested, query, backend);
      const bucketSeconds = resolutionSeconds[query.resolution];
      const buckets = toBucketPage(backend, { path, query, bucketSeconds });
      const page = { ...joined, ...buckets, ...getFilling(query, backend) };
      return {
        ...candleSource(backend.facts, page, query.order),
        writer: publicAs((one: BucketCandle) => toCandleRow(one, page)),
        getMeta: (rows: readonly BucketCandle[]) => {
          const first = getFirstBucket(page);
          const maxAge = isLasting(rows, page) ? page.bucketSeconds : 1;
          void reply.header("cache-control", `private, max-age=${maxAge}`);
          return {
            resolution: query.resolution,
            first_candle_ms: first === null ? null : first * 1000,
            settlement: getSettlement(joined.same, backend),
          };
        },
      };
    },
  });
}

/** Returns the newest candles of several tokens in the requested order, without tokens never seen on the chain. */
export function listManyCandles(backend: ListParts): Route {
  return defineRoute({
    path: "/v1/candles",
    summary: "List candles of tokens",
    description:
      "The newest candles of up to 50 tokens, oldest first, of each token once, all on one page. `limit` counts the candles of each token, `pagination.limit` tokens. `not_found` names tokens that were never seen on the chain",
    querystring: manyParameters,
    response: Type.Object({
      data: Type.Array(
        Type.Object({
          token_id: tokenIdText,
          candles: Type.Array(candleRow, { description: "Its newest candles, oldest first" }),
        }),
      ),
      not_found: Type.Array(Type.String()),
      pagination: paginationSchema,
      meta: rangeMeta,
    }),
    cacheControl: "private, max-age=1",
    handler: async ({ query }, reply) => {
      checkRange(query, ["start", "end"]);
      const requested = [...new Set(query.token_ids)];
      const { directory } = backend.state;
      const tokenIds = requested.filter((id) => directory.isKnownToken(id));
      const outcomes = tokenIds.map((id) => join(id, query, backend));
      const bucketSeconds = resolutionSeconds[query.resolution];
      const { now } = backend.state.dayWindow;
      const buckets = { bucketSeconds, now, ...toBuckets(query, bucketSeconds) };
      const range = { ...buckets, ...getFilling(query, backend) };
      const read = await backend.heavyReads.run(reply, async () =>
        readNewestCandles(backend.facts, range, outcomes),
      );
      const data = tokenIds.map((id, at) => ({
        token_id: formatTokenId(id),
        candles: (read[at] ?? []).map((one) => toCandleRow(one, range)).toReversed(),
      }));
      const not_found = requested
        .filter((id) => !directory.isKnownToken(id))
        .map((id) => formatTokenId(id));
      return {
        data,
        not_found,
        pagination: { limit: tokensMax, has_more: false, next_cursor: null },
        meta: reachesBeforeFirst(backend, query) ? { truncated_at_start: true } : {},
      };
    },
  });
}

function join(
  tokenId: TokenId,
  { source, include_mirror: mirror }: Pick<CandleParameters, "source" | "include_mirror">,
  { state }: Backend,
): JoinedTokens {
  return joinTokens(state.directory, tokenId, { complement: source === "pair", mirror });
}

/** Returns whether later trades cannot change a page: all its candles are closed, or it is empty and in the past. */
function isLasting(rows: readonly BucketCandle[], { to, now, bucketSeconds }: CandlePage): boolean {
  return rows.length === 0 ? to <= now : rows.every(({ bucket }) => bucket + bucketSeconds <= now);
}

/** Returns how many candles to read, and whether buckets without trades have one. */
function getFilling(
  { limit = pageRows, fill }: Pick<CandleParameters, "limit" | "fill">,
  { state }: Backend,
): Pick<CandlePage, "limit" | "isFilled" | "getTotals"> {
  const getTotals = (id: TokenId) => state.directory.getTotals(id);
  return { limit, isFilled: fill === "previous", getTotals };
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
