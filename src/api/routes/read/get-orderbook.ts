import type { FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import { AppError } from "../../../base/errors.ts";
import type { TokenId } from "../../../base/ids.ts";
import { tokenId } from "../../../base/input/client-texts.ts";
import { unknownToken } from "../../../query/read-markets.ts";
import { ageOf, bookRow, presentBook } from "../../../rows/book-row.ts";
import { noBookSource, type OrderBooks } from "../../../venue/books/order-books.ts";
import type { Backend } from "../../backend.ts";
import type { Subject } from "../../cache/response-cache.ts";
import { defineRoute, type Route } from "../../http/route.ts";
import { oneOf } from "../../lists/list-answer.ts";

const querystring = Type.Object({
  depth: Type.Integer({ minimum: 1, maximum: 1000, default: 50 }),
});

/** After this a venue that is away may be back. */
const retryAfterSeconds = 5;

/** The order book of one token, from the venue. */
export function getOrderbook(backend: Backend): Route {
  const { state, books } = backend;
  return defineRoute({
    path: "/v1/orderbook/{token_id}",
    access: "read",
    summary: "Order book of a token, from the venue; only with a book source configured",
    params: Type.Object({ token_id: tokenId }),
    querystring,
    response: oneOf(bookRow),
    errors: ["NOT_FOUND", "SERVICE_UNAVAILABLE"],
    cacheControl: "private, max-age=10",
    ...(books === null ? {} : { subjectOf: subjectOfBook(backend, books) }),
    handler: async ({ params, query }) => {
      if (!state.directory.isKnownToken(params.token_id)) throw unknownToken();
      if (books === null) throw noBookSource();
      const book = await books.read(params.token_id);
      if (book === "absent")
        throw new AppError("NOT_FOUND", "The venue has no order book of this token");
      if (book === "unavailable") throw away(books);
      return { data: presentBook(book, query.depth, books.clock.monotonicMs()) };
    },
  });
}

/** The answer is that of one state of one book, until the next block; only its age goes on. */
function subjectOfBook({ state }: Backend, books: OrderBooks) {
  const { clock } = books;
  return ({ params, query }: FastifyRequest): Subject => {
    const { token_id: tokenId } = params as { readonly token_id: TokenId };
    const { depth } = query as Static<typeof querystring>;
    const peek = books.peeker(tokenId);
    const lasts = (): (() => boolean) => {
      const book = peek();
      const { revision } = state;
      const version = book?.version;
      const staleReason = book?.staleReason(clock.monotonicMs());
      return () =>
        book !== null &&
        book === peek() &&
        book.version === version &&
        book.staleReason(clock.monotonicMs()) === staleReason &&
        state.revision === revision;
    };
    const ageMs = (): number => {
      const book = peek();
      return book === null ? 0 : ageOf(book, clock.monotonicMs());
    };
    const bodyNow = () => {
      const book = peek();
      const nowMs = clock.monotonicMs();
      // What is not right just now may be in a moment, which the handler waits for.
      if (book === null || book.staleReason(nowMs) !== null) return null;
      // A reorg can revert the event that announced the token.
      if (!state.directory.isKnownToken(tokenId)) return null;
      return { data: presentBook(book, depth, nowMs) };
    };
    return { lasts, ageMs, bodyNow };
  };
}

function away({ name }: OrderBooks): AppError {
  const publicMessage = `The source of order books (${name}) is away, and no book of this token is held`;
  return new AppError("SERVICE_UNAVAILABLE", { publicMessage, retryAfterSeconds });
}
