/** Gathers the price of a token from the views alone. */
import type { TokenId } from "../../base/ids.ts";
import { type PriceFacts, type PriceRow, toPriceRow } from "../../rows/price-row.ts";
import type { LiveBook } from "../../venue/books/live-book.ts";
import type { OrderBooks } from "../../venue/books/order-books.ts";
import { dayWindowSeconds } from "../../views/day/day-window.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";
import type { MarketState } from "../../views/markets/market-state.ts";
import { joinedDayCandle, joinedPriceBeforeDay } from "../../views/prices/day-price.ts";
import { joinedNewestTrade, joinedPrice, pairPrice } from "../../views/prices/token-price.ts";
import { joinTokens } from "./read-markets.ts";

/** The sources of a price, all of them in memory. */
export type PriceSources = {
  readonly state: MarketState;
  /** `null` when no venue is configured. */
  readonly books: OrderBooks | null;
};

/** Returns the price of a token at the newest block, on its ledger or both; `null` for an unknown token. */
export function readPrice(
  sources: PriceSources & { readonly facts: IndexedFacts },
  tokenId: TokenId,
  { mirror }: { readonly mirror: boolean },
): PriceRow | null {
  sources.facts.reads.add("price", "views");
  const { same } = joinTokens(sources.state.directory, tokenId, { complement: false, mirror });
  return getPriceRow(tokenId, sources, same);
}

/**
 * Returns the price of a token at the newest block; `null` for an unknown token. `tokenIds` are the tokens of its
 * outcome whose trades count: its own, and that of the other ledger if requested.
 */
export function getPriceRow(
  tokenId: TokenId,
  sources: PriceSources,
  tokenIds: readonly TokenId[] = [tokenId],
): PriceRow | null {
  const { state } = sources;
  const { directory, dayWindow } = state;
  if (!directory.isKnownToken(tokenId)) return null;
  return toPriceRow({
    tokenId,
    price: joinedPrice(tokenIds, directory),
    lastTrade: joinedNewestTrade(tokenIds, directory),
    book: bookReader(tokenId, sources)(),
    day: {
      from: dayWindow.now - dayWindowSeconds,
      now: dayWindow.now,
      candle: joinedDayCandle(tokenIds, state),
      priceBefore: joinedPriceBeforeDay(tokenIds, state),
    },
    complement: getComplement(tokenIds, state),
  });
}

function getComplement(
  tokenIds: readonly TokenId[],
  { directory }: MarketState,
): PriceFacts["complement"] {
  const complements = tokenIds.flatMap((id) => directory.getComplement(id) ?? []);
  const [tokenId] = complements;
  if (tokenId === undefined) return null;
  const source = joinedPrice(complements, directory)?.source ?? null;
  return { tokenId, outcome: directory.getToken(tokenId).outcome, source };
}

/**
 * Returns a reader of a token's book, which returns `null` without a book or for a stale one. It is valid until the
 * state changes. Reading keeps a book followed.
 */
export function bookReader(tokenId: TokenId, sources: PriceSources): () => LiveBook | null {
  const books = getBooks(tokenId, sources);
  if (books === null) return () => null;
  const peek = books.peeker(tokenId);
  return () => {
    const book = peek();
    return book?.staleReason(books.clock.monotonicMs()) === null ? book : null;
  };
}

/** Waits for the first book of a token, up to some seconds, if it can have one. */
export async function awaitBook(tokenId: TokenId, sources: PriceSources): Promise<void> {
  await getBooks(tokenId, sources)?.awaitFirst(tokenId);
}

/** The books of a venue that can have one of this token: the venue has none of a resolved market. */
function getBooks(
  tokenId: TokenId,
  { state: { directory }, books }: PriceSources,
): OrderBooks | null {
  const isOpen = pairPrice(tokenId, directory)?.source !== "settlement";
  return isOpen && directory.isKnownToken(tokenId) ? books : null;
}
