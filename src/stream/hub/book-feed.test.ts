import assert from "node:assert/strict";
import { test } from "node:test";
import { VenueBook } from "../../../test/support/venue-book.ts";
import { parseTokenId } from "../../base/ids.ts";
import { HashTrust } from "../../venue/books/hash-trust.ts";
import { type BookListener, LiveBook } from "../../venue/books/live-book.ts";
import type { OrderBooks } from "../../venue/books/order-books.ts";
import { parseBookMessage, parseSnapshot } from "../../venue/books/parse-book.ts";
import { BookFeed, type BookReceiver } from "./book-feed.ts";

const assetId = "4711";
const tokenId = parseTokenId(assetId);

function openBook() {
  const venue = new VenueBook({ assetId, market: "0x01", timestampMs: 1_790_000_000_000 });
  venue.set("BUY", "0.4", "10");
  const book = new LiveBook({
    assetId,
    trust: new HashTrust(),
    onFault: () => {},
    rereadMs: () => 30_000,
  });
  const snapshot = parseSnapshot(venue.summary);
  assert(snapshot !== null && tokenId !== null);
  book.applySnapshot(snapshot, 0);
  book.beginFetch();
  book.applyAnswer(snapshot, 0);
  const books = {
    clock: { monotonicMs: () => 0 },
    peek: () => book,
    watch: (_tokenId: unknown, listener: BookListener) => {
      book.listeners.add(listener);
      return () => book.listeners.delete(listener);
    },
  } as unknown as OrderBooks;
  const change = (price: string) => {
    venue.set("BUY", price, "5");
    venue.timestampMs += 1;
    const entry = { asset_id: assetId, price, size: "5", side: "BUY", hash: venue.summary.hash };
    const timestamp = String(venue.timestampMs);
    const message = { event_type: "price_change", timestamp, price_changes: [entry] };
    for (const event of parseBookMessage(JSON.stringify(message))) {
      assert(event.kind === "changes");
      book.applyChanges(event, 0);
    }
  };
  return { book, change, feed: () => new BookFeed({ books, tokenId, subscriptionId: "s1" }) };
}

/** Collects the types of the frames that a follower gets. */
class Follower implements BookReceiver {
  readonly frames: string[] = [];

  deliver(): void {
    this.frames.push("event");
  }

  sendText(text: string): void {
    this.frames.push((JSON.parse(text) as { type: string }).type);
  }
}

test("a client that subscribes to a stale book gets it once a hash proves it", () => {
  const { book, change, feed } = openBook();
  const [earlier, later] = [new Follower(), new Follower()];
  const firstFeed = feed();
  firstFeed.add(earlier);
  change("0.2");
  firstFeed.remove(earlier);
  assert.deepEqual(earlier.frames, ["snapshot", "event"]);
  book.takeBroken(0);
  feed().add(later);
  assert.deepEqual(later.frames, []);
  change("0.3");
  assert.deepEqual(later.frames, ["snapshot"]);
});

test("a client that subscribes before the stale notice does not get it", () => {
  const { book, feed } = openBook();
  const [earlier, later] = [new Follower(), new Follower()];
  const shared = feed();
  shared.add(earlier);
  const [listener] = book.listeners;
  book.listeners.clear();
  book.takeBroken(0);
  shared.add(later);
  listener?.(book, []);
  assert.deepEqual([earlier.frames, later.frames], [["snapshot", "event"], []]);
});
