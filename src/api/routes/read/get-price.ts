import type { FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import type { TokenId } from "../../../base/ids.ts";
import { tokenId } from "../../../base/input/client-texts.ts";
import { readPrices, unknownToken } from "../../../query/read-markets.ts";
import { type PriceRow, priceRow } from "../../../rows/price-row.ts";
import { type Backend, lastsWithBooks } from "../../backend.ts";
import type { AnswerBody, Subject } from "../../cache/response-cache.ts";
import { defineRoute, type Route } from "../../http/route.ts";
import { metaSchema, oneOf, paginationSchema } from "../../lists/list-answer.ts";

const oneToken = Type.Object({ token_id: tokenId });
const tokensMax = 100;
const someTokens = Type.Object({
  token_ids: Type.Array(tokenId, { minItems: 1, maxItems: tokensMax }),
});
/** What was asked for is all there is. */
const onePage = { limit: tokensMax, has_more: false, next_cursor: null } as const;
type Params = Static<typeof oneToken>;
type Query = Static<typeof someTokens>;

/** The price of one token. */
export function getPrice(backend: Backend): Route {
  return defineRoute({
    method: "GET",
    path: "/v1/price/{token_id}",
    access: "read",
    summary: "Current price, 24-hour statistics and the complement's price",
    params: oneToken,
    response: oneOf(priceRow),
    errors: ["NOT_FOUND", "SERVICE_UNAVAILABLE"],
    cacheControl: "private, max-age=1",
    subjectOf: subjectOfPrices(backend, {
      askedIn: ({ params }) => [(params as Params).token_id],
      bodyOf: ([data = null]) => (data === null ? null : { data }),
    }),
    handler: ({ params }) => {
      const [data = null] = readPrices(backend, [params.token_id]);
      if (data === null) throw unknownToken();
      return { data };
    },
  });
}

/** The prices of several tokens, in the order asked for; tokens never seen are left out. */
export function listPrices(backend: Backend): Route {
  return defineRoute({
    method: "GET",
    path: "/v1/price",
    access: "read",
    summary: "Prices of up to 100 tokens; not_found names those never seen on the chain",
    querystring: someTokens,
    response: Type.Object({
      data: Type.Array(priceRow),
      not_found: Type.Array(Type.String()),
      pagination: paginationSchema,
      meta: metaSchema,
    }),
    errors: ["SERVICE_UNAVAILABLE"],
    cacheControl: "private, max-age=1",
    subjectOf: subjectOfPrices(backend, {
      askedIn: ({ query }) => (query as Query).token_ids,
      bodyOf: listed,
    }),
    handler: ({ query: { token_ids } }) => listed(readPrices(backend, token_ids), token_ids),
  });
}

type Prices = readonly (PriceRow | null)[];

function listed(rows: Prices, asked: readonly TokenId[]) {
  return {
    data: rows.filter((row) => row !== null),
    not_found: asked.filter((_, i) => rows[i] === null).map((id) => BigInt(id).toString()),
    pagination: onePage,
  };
}

/** Prices change with every block; what they are made of is in memory. */
function subjectOfPrices(
  backend: Backend,
  of: {
    readonly askedIn: (request: FastifyRequest) => readonly TokenId[];
    readonly bodyOf: (rows: Prices, asked: readonly TokenId[]) => AnswerBody | null;
  },
): (request: FastifyRequest) => Subject {
  return (request) => {
    const asked = of.askedIn(request);
    const bodyNow = () => of.bodyOf(readPrices(backend, asked), asked);
    return { lasts: lastsWithBooks(backend, asked), bodyNow };
  };
}
