import { venueLimits } from "../../base/config/venue-limits.ts";
import { AppError } from "../../base/errors.ts";
import { formatTokenId, type TokenId } from "../../base/ids.ts";
import { toBookChangeRow, toBookRow } from "../../rows/book-row.ts";
import type { LiveBook } from "../../venue/books/live-book.ts";
import type { OrderBooks } from "../../venue/books/order-books.ts";
import type { LevelChange } from "../../venue/books/parse-book.ts";
import { Packet } from "../frames/packet.ts";
import { snapshotFrame } from "../frames/server-frames.ts";

type BookFeedParts = {
  readonly books: OrderBooks;
  readonly tokenId: TokenId;
  readonly subscriptionId: string;
};

/** A follower of a book. */
export type BookReceiver = {
  deliver(packet: Packet): void;
  sendText(text: string): void;
};

/**
 * The order book of one token for all its followers: a snapshot, then each change with a checksum, and a new snapshot
 * after the book was stale. `seq` counts the frames of the book, because books have no position on the chain.
 */
export class BookFeed {
  readonly #parts: BookFeedParts;
  readonly #receivers = new Set<BookReceiver>();
  readonly #synced = new Set<BookReceiver>();
  readonly #unwatch: () => void;
  #position = 0;

  /** Throws `SERVICE_UNAVAILABLE` when the limit of followed books is reached. */
  constructor(parts: BookFeedParts) {
    this.#parts = parts;
    const unwatch = parts.books.watch(parts.tokenId, (book, changes) =>
      this.#update(book, changes),
    );
    if (unwatch === null) {
      throw new AppError(
        "SERVICE_UNAVAILABLE",
        "The limit of order books that are followed is reached",
      );
    }
    this.#unwatch = unwatch;
  }

  get position(): number {
    return this.#position;
  }

  add(receiver: BookReceiver): void {
    const { books, tokenId } = this.#parts;
    this.#receivers.add(receiver);
    const book = books.peek(tokenId);
    if (book?.staleReason(books.clock.monotonicMs()) === null) this.#sendBook(book, [receiver]);
  }

  remove(receiver: BookReceiver): void {
    this.#receivers.delete(receiver);
    this.#synced.delete(receiver);
    if (this.#receivers.size === 0) this.#unwatch();
  }

  #update(book: LiveBook, changes: readonly LevelChange[] | null): void {
    const stale_reason = book.staleReason(this.#parts.books.clock.monotonicMs());
    if (stale_reason !== null) {
      if (this.#synced.size === 0) return;
      this.#sendEvent("book_stale", { token_id: book.assetId, stale_reason });
      this.#synced.clear();
    } else if (changes === null || this.#synced.size < this.#receivers.size) {
      this.#position += 1;
      this.#sendBook(book, this.#receivers);
    } else if (changes.length > 0) this.#sendEvent("book", toBookChangeRow(book, changes));
  }

  #sendEvent(event: "book" | "book_stale", data: object): void {
    const { tokenId, subscriptionId: subscription_id } = this.#parts;
    const channel = { type: "orderbook", token_id: formatTokenId(tokenId) };
    const prev_seq = this.#position;
    this.#position += 1;
    const position = { subscription_id, seq: this.#position, prev_seq };
    const packet = new Packet([
      JSON.stringify({ type: "event", event, channel, ...position, data }),
    ]);
    for (const receiver of this.#synced) receiver.deliver(packet);
  }

  #sendBook(book: LiveBook, receivers: Iterable<BookReceiver>): void {
    const { books, subscriptionId } = this.#parts;
    const nowMs = books.clock.monotonicMs();
    const json = JSON.stringify(toBookRow(book, venueLimits.levelsMax, nowMs));
    const text = snapshotFrame(subscriptionId, { seq: this.#position, rows: [json] });
    for (const receiver of receivers) {
      this.#synced.add(receiver);
      receiver.sendText(text);
    }
  }
}
