import { invalid } from "../../base/input/compile-reader.ts";
import { unknownToken } from "../../query/markets/read-markets.ts";
import { noBookSource } from "../../venue/books/order-books.ts";
import { BookFeed } from "../hub/book-feed.ts";
import type { ChannelLog, Opening } from "../hub/channel.ts";

/**
 * Opens the `orderbook` channel of one token. Throws `VALIDATION_ERROR`, `NOT_FOUND` for an unknown token, and
 * `SERVICE_UNAVAILABLE` if no venue is configured.
 */
export function openOrderbook({ request, sources, tokenIds }: Opening): ChannelLog {
  const { books, state } = sources;
  const [tokenId] = tokenIds;
  for (const name of ["resume_from", "snapshot"] as const) {
    if (request[name] !== undefined)
      throw invalid(name, "is not accepted: order books have no history");
  }
  if (tokenId === undefined || !state.directory.isKnownToken(tokenId)) throw unknownToken();
  if (books === null) throw noBookSource();
  return {
    event: "book",
    // No block and no reorg changes an order book.
    interest: () => ({ tokenIds: [], events: false }),
    read: async () => [],
    revertedBy: () => [],
    openFeed: (subscriptionId) => new BookFeed({ books, tokenId, subscriptionId }),
  };
}
