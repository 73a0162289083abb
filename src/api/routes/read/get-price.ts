import { type Static, Type } from "typebox";
import type { TokenId } from "../../../base/ids.ts";
import { namedToken } from "../../../base/input/client-texts.ts";
import { unknownToken } from "../../../query/markets/read-markets.ts";
import { type Moment, readPastPrices, toPast } from "../../../query/markets/read-past-price.ts";
import { awaitBook, readPrice } from "../../../query/markets/read-price.ts";
import { type PriceRow, pastPriceRow, priceRow } from "../../../rows/price-row.ts";
import { type Backend, untilChange, watchPrice } from "../../backend.ts";
import { moment, parseTime } from "../../http/parameters.ts";
import { metaSchema, paginationSchema, toObjectShape } from "../../route/list-answer.ts";
import { defineRoute, type Route } from "../../route/route.ts";

const oneToken = Type.Object({ token_id: namedToken });
const included = { include_mirror: Type.Boolean({ default: false }) };
const pastOrNow = { ...included, at: Type.Optional(moment) };
const priceParameters = Type.Object(pastOrNow);
const priceOrPast = Type.Union([priceRow, pastPriceRow]);
const tokensMax = 100;
const someTokens = Type.Object({
  token_ids: Type.Array(namedToken, { minItems: 1, maxItems: tokensMax }),
  ...pastOrNow,
});
/** All requested prices are on one page. */
const onePage = { limit: tokensMax, has_more: false, next_cursor: null } as const;

/** Returns the price of one token. */
export function getPrice(backend: Backend): Route {
  return defineRoute({
    path: "/v1/price/{token_id}",
    summary: "Get a price",
    description:
      "Price of the last trade, 24-hour statistics and the complement's price. With `at` the price as it was",
    params: oneToken,
    querystring: priceParameters,
    response: toObjectShape(priceOrPast),
    cacheControl: "private, max-age=1",
    getCachePolicy: ({ params: { token_id: tokenId }, query }) =>
      query.at === undefined
        ? {
            watch: watchPrice(backend, tokenId),
            bodyNow: () => findPrice(backend, tokenId, query),
          }
        : untilChange(backend),
    handler: async ({ params, query }) => {
      if (query.at !== undefined) {
        const past = toPast(backend, toMoment(query.at));
        const mirror = query.include_mirror;
        const [data = null] = await readPastPrices(backend, [params.token_id], { mirror, past });
        if (data === null) throw unknownToken();
        return { data };
      }
      await awaitBook(params.token_id, backend);
      const body = findPrice(backend, params.token_id, query);
      if (body === null) throw unknownToken();
      return body;
    },
  });
}

/** Returns the prices of several tokens in the requested order, without tokens never seen on the chain. */
export function listPrices(backend: Backend): Route {
  return defineRoute({
    path: "/v1/price",
    summary: "List prices",
    description:
      "Prices of up to 100 tokens, a row for each requested id. `not_found` names tokens that were never seen on the chain",
    querystring: someTokens,
    response: Type.Object({
      data: Type.Array(priceOrPast),
      not_found: Type.Array(Type.String()),
      pagination: paginationSchema,
      meta: metaSchema,
    }),
    cacheControl: "private, max-age=1",
    handler: async ({ query: { token_ids: ids, include_mirror: mirror, at } }) => {
      const rows =
        at === undefined
          ? await readPrices(backend, ids, mirror)
          : await readPastPrices(backend, ids, { mirror, past: toPast(backend, toMoment(at)) });
      return {
        data: rows.filter((row) => row !== null),
        not_found: ids.filter((_, i) => rows[i] === null).map((id) => BigInt(id).toString()),
        pagination: onePage,
      };
    },
  });
}

/** Reads prices of the same block, once the books of all tokens have come. */
async function readPrices(backend: Backend, ids: readonly TokenId[], mirror: boolean) {
  await Promise.all(ids.map((id) => awaitBook(id, backend)));
  return ids.map((id) => readPrice(backend, id, { mirror }));
}

function toMoment(text: string): Moment {
  return /^[0-9]+$/.test(text) ? { number: Number(text) } : { timeMs: parseTime(text) ?? 0 };
}

/** Reads a price, synchronously from memory; `null` for an unknown token. */
function findPrice(
  backend: Backend,
  tokenId: TokenId,
  { include_mirror: mirror }: Static<typeof priceParameters>,
): { data: PriceRow } | null {
  const data = readPrice(backend, tokenId, { mirror });
  return data === null ? null : { data };
}
