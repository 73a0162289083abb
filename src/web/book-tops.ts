import type { TokenId } from "../base/ids.ts";
import type { BookSource } from "../catalog/order-books.ts";
import type { MarketState } from "../market/market-state.ts";
import { pairPrice } from "../market/price.ts";
import type { BookTop } from "../rows/price-row.ts";

/** The best prices of a token's book while it is known to be right; asking is interest in the book. */
export function bookTopsOf(
  books: BookSource | null,
  { directory }: MarketState,
): (tokenId: TokenId) => BookTop | null {
  return (tokenId) => {
    if (books === null || !directory.isKnownToken(tokenId)) return null;
    // The venue has no books of what is resolved.
    if (pairPrice(tokenId, directory)?.source === "settlement") return null;
    const book = books.peek(tokenId);
    return book?.staleReason(books.clock.monotonicMs()) === null ? book.top : null;
  };
}
