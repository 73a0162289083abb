import { Type } from "typebox";
import { AppError } from "../../../base/errors.ts";
import { namedToken } from "../../../base/input/client-texts.ts";
import { unknownToken } from "../../../query/markets/read-markets.ts";
import { bookRow, toBookRow } from "../../../rows/book-row.ts";
import { noBookSource, type OrderBooks } from "../../../venue/books/order-books.ts";
import type { Backend } from "../../backend.ts";
import { toObjectShape } from "../../route/list-answer.ts";
import { defineRoute, type Route } from "../../route/route.ts";

/** `Retry-After` while the venue is unavailable. */
const retryAfterSeconds = 5;

/** Returns the order book of one token from the venue. */
export function getOrderbook({ state, books }: Backend): Route {
  return defineRoute({
    path: "/v1/orderbook/{token_id}",
    summary: "Get an order book",
    description: "Order book of a token, from the venue. Needs a configured venue",
    params: Type.Object({ token_id: namedToken }),
    querystring: Type.Object({
      depth: Type.Integer({ minimum: 1, maximum: 1000, default: 50 }),
    }),
    response: toObjectShape(bookRow),
    cacheControl: "private, max-age=10",
    handler: async ({ params, query }) => {
      if (!state.directory.isKnownToken(params.token_id)) throw unknownToken();
      if (books === null) throw noBookSource();
      const book = await books.read(params.token_id);
      if (book === "absent")
        throw new AppError("NOT_FOUND", "The venue has no order book of this token");
      if (book === "unavailable") throw unavailable(books);
      return { data: toBookRow(book, query.depth, books.clock.monotonicMs()) };
    },
  });
}

function unavailable({ name }: OrderBooks): AppError {
  const publicMessage = `The source of order books (${name}) is unavailable, and no book of this token is in memory`;
  return new AppError("SERVICE_UNAVAILABLE", { publicMessage, retryAfterSeconds });
}
