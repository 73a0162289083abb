import type { TokenId } from "../../base/ids.ts";
import type { BookTop } from "../../rows/price-row.ts";
import type { LiveBook } from "../../venue/books/live-book.ts";
import type { OrderBooks } from "../../venue/books/order-books.ts";
import type { MarketState } from "../../views/markets/market-state.ts";
import { pairPrice } from "../../views/prices/token-price.ts";

/** Reads the best prices of a token's book; `null` without a book or for a stale one. Reading keeps a book followed. */
export function bookTopsOf(
  books: OrderBooks | null,
  { directory }: MarketState,
): (tokenId: TokenId) => BookTop | null {
  return (tokenId) => {
    const hasBook = books !== null && mayHaveBook(tokenId, directory);
    return hasBook ? topOf(books.peek(tokenId), books) : null;
  };
}

/** Returns a faster reader of the best prices of one token. It is valid until the market state changes. */
export function bookTopReader(
  books: OrderBooks | null,
  { directory }: MarketState,
  tokenId: TokenId,
): () => BookTop | null {
  if (books === null || !mayHaveBook(tokenId, directory)) return () => null;
  const peek = books.peeker(tokenId);
  return () => topOf(peek(), books);
}

/** Returns whether the venue can have a book of the token. It has none of a resolved market. */
function mayHaveBook(tokenId: TokenId, directory: MarketState["directory"]): boolean {
  return directory.isKnownToken(tokenId) && pairPrice(tokenId, directory)?.source !== "settlement";
}

function topOf(book: LiveBook | null, { clock }: OrderBooks): BookTop | null {
  return book !== null && book.staleReason(clock.monotonicMs()) === null ? book.top : null;
}
