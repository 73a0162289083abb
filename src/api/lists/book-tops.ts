import type { TokenId } from "../../base/ids.ts";
import type { BookTop } from "../../rows/price-row.ts";
import type { LiveBook } from "../../venue/books/live-book.ts";
import type { OrderBooks } from "../../venue/books/order-books.ts";
import type { MarketState } from "../../views/markets/market-state.ts";
import { pairPrice } from "../../views/prices/token-price.ts";

/** The best prices of a token's book while it is not stale; reading them keeps the book followed. */
export function bookTopsOf(
  books: OrderBooks | null,
  { directory }: MarketState,
): (tokenId: TokenId) => BookTop | null {
  return (tokenId) => {
    const hasBook = books !== null && mayHaveBook(tokenId, directory);
    return hasBook ? topOf(books.peek(tokenId), books) : null;
  };
}

/** The same for one token that is read often; valid until the state changes. */
export function bookTopReader(
  books: OrderBooks | null,
  { directory }: MarketState,
  tokenId: TokenId,
): () => BookTop | null {
  if (books === null || !mayHaveBook(tokenId, directory)) return () => null;
  const peek = books.peeker(tokenId);
  return () => topOf(peek(), books);
}

/** The venue has no books of what is resolved. */
function mayHaveBook(tokenId: TokenId, directory: MarketState["directory"]): boolean {
  return directory.isKnownToken(tokenId) && pairPrice(tokenId, directory)?.source !== "settlement";
}

function topOf(book: LiveBook | null, { clock }: OrderBooks): BookTop | null {
  return book !== null && book.staleReason(clock.monotonicMs()) === null ? book.top : null;
}
