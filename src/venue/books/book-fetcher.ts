import { venueLimits } from "../../base/config/venue-limits.ts";
import { VenueError } from "../venue-error.ts";
import type { PoliteHttp } from "../venue-http.ts";
import { type BookSnapshot, parseSnapshot } from "./parse-book.ts";

/** The book of each token; `null` where the venue has no book. */
export type FetchedBooks = ReadonlyMap<string, BookSnapshot | null>;

/**
 * Fetches the books of up to `booksPerRequestMax` tokens. A token whose book cannot be parsed is
 * left out of the result. Throws `VenueError`.
 */
export async function fetchBooks(
  http: PoliteHttp,
  assetIds: readonly string[],
  signal: AbortSignal,
): Promise<FetchedBooks> {
  const body = JSON.stringify(assetIds.map((token_id) => ({ token_id })));
  const books = await http.fetch({ method: "POST", path: "/books", body }, signal);
  if (!Array.isArray(books))
    throw new VenueError("malformed", "unexpected response: not a list of books");
  const snapshots = books.slice(0, venueLimits.booksPerRequestMax).map(parseSnapshot);
  const fetched = new Map<string, BookSnapshot | null>();
  // The venue leaves out tokens without a book; that is certain only if every entry was readable.
  if (!snapshots.includes(null)) for (const assetId of assetIds) fetched.set(assetId, null);
  for (const snapshot of snapshots) {
    if (snapshot !== null && assetIds.includes(snapshot.assetId)) {
      fetched.set(snapshot.assetId, snapshot);
    }
  }
  return fetched;
}
