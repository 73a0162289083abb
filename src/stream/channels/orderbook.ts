import { invalid } from "../../base/input/compile-reader.ts";
import { unknownToken } from "../../query/read-markets.ts";
import { noBookSource } from "../../venue/books/order-books.ts";
import type { ChannelRequest } from "../frames/frame-fields.ts";
import { BookFeed } from "../hub/book-feed.ts";
import type { Channel, StreamSources } from "../hub/channel.ts";
import { checkRequest, requestedTokens, shownTokens } from "../hub/channel-request.ts";

/**
 * Opens the `orderbook` channel of one token. Throws `VALIDATION_ERROR`, `NOT_FOUND` for an unknown token, and
 * `SERVICE_UNAVAILABLE` if no venue is configured.
 */
export function openOrderbook(request: ChannelRequest, { books, state }: StreamSources): Channel {
  checkRequest(request, { fields: ["token_id"], filters: [] });
  for (const name of ["resume_from", "snapshot"] as const) {
    if (request[name] !== undefined) throw invalid(name, "is not taken: books come whole");
  }
  const [tokenId, ...others] = requestedTokens(request);
  if (tokenId === undefined || others.length > 0) {
    throw invalid("channel.token_id", "must be one token");
  }
  if (!state.directory.isKnownToken(tokenId)) throw unknownToken();
  if (books === null) throw noBookSource();
  const normalizedRequest = { type: "orderbook", ...shownTokens([tokenId]) };
  return {
    event: "book",
    normalizedRequest,
    // No block and no reorg changes an order book.
    isFinalOnly: true,
    interest: { tokenIds: [], events: false },
    readAfter: async () => [],
    readNewest: async () => [],
    revertedBy: () => [],
    openFeed: (subscriptionId) =>
      new BookFeed({ books, tokenId, subscriptionId, normalizedRequest }),
  };
}
