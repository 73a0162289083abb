import { Type } from "typebox";
import { AppError } from "../../base/errors.ts";
import type { TokenId } from "../../base/ids.ts";
import { type PriceRow, presentPrice, priceRow } from "../../rows/price-row.ts";
import { readPriceParts } from "../../store/read-price-parts.ts";
import { type Backend, keptUntilNews } from "../backend.ts";
import { oneOf } from "../list-answer.ts";
import { metaOf, metaSchema } from "../meta.ts";
import { tokenId } from "../parameters.ts";
import { defineRoute, type Route } from "../route.ts";

/** Each takes up to two queries, of which the engine works on a handful at once. */
const pricesAtOnce = 4;

/** The price of one token. */
export function getPrice(backend: Backend): Route {
  return defineRoute({
    method: "GET",
    path: "/v1/price/{token_id}",
    access: "read",
    summary: "Current price, 24-hour statistics and the complement's price",
    params: Type.Object({ token_id: tokenId }),
    response: oneOf(priceRow),
    errors: ["NOT_FOUND", "SERVICE_UNAVAILABLE"],
    cacheControl: "private, max-age=1",
    kept: keptUntilNews(backend),
    handler: async ({ id: requestId, params }) => {
      const data = await readPrice(backend, params.token_id);
      if (data === null) throw new AppError("NOT_FOUND");
      return { data, meta: metaOf(requestId, backend.freshness()) };
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
    querystring: Type.Object({ token_ids: Type.Array(tokenId, { minItems: 1, maxItems: 100 }) }),
    response: Type.Object({
      data: Type.Array(priceRow),
      not_found: Type.Array(Type.String()),
      meta: metaSchema,
    }),
    errors: ["SERVICE_UNAVAILABLE"],
    cacheControl: "private, max-age=1",
    kept: keptUntilNews(backend),
    handler: async ({ id: requestId, query }) => {
      const asked = query.token_ids;
      const rows: (PriceRow | null)[] = [];
      // A few at a time: one caller must not fill the line of store queries for everybody.
      for (let at = 0; at < asked.length; at += pricesAtOnce) {
        const some = asked.slice(at, at + pricesAtOnce);
        rows.push(...(await Promise.all(some.map(async (id) => readPrice(backend, id)))));
      }
      return {
        data: rows.filter((row) => row !== null),
        not_found: asked.filter((_, i) => rows[i] === null).map((id) => BigInt(id).toString()),
        meta: metaOf(requestId, backend.freshness()),
      };
    },
  });
}

async function readPrice({ store, state }: Backend, id: TokenId): Promise<PriceRow | null> {
  if (!state.directory.isKnownToken(id)) return null;
  return presentPrice(await readPriceParts(store, state, id), state);
}
