import { venueLimits } from "../../base/config/venue-limits.ts";
import { AppError } from "../../base/errors.ts";
import { formatTokenId, type TokenId } from "../../base/ids.ts";
import { presentBook, presentBookChange } from "../../rows/book-row.ts";
import type { BookDelta, LiveBook } from "../../venue/books/live-book.ts";
import type { OrderBooks } from "../../venue/books/order-books.ts";
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
 * after the book was stale. `seq` counts the reports of the book, because books have no position on the chain.
 */
export class BookFeed {
  readonly #parts: BookFeedParts;
  /** The receivers, and whether each has a current copy of the book. */
  readonly #receivers = new Map<BookReceiver, boolean>();
  readonly #unwatch: () => void;
  #position = 0;

  /** Throws `SERVICE_UNAVAILABLE` when the limit of followed books is reached. */
  constructor(parts: BookFeedParts) {
    this.#parts = parts;
    const unwatch = parts.books.watch(parts.tokenId, (delivery, book) =>
      this.#report(delivery, book),
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
    this.#receivers.set(receiver, false);
    const book = books.peek(tokenId);
    if (book?.staleReason(books.clock.monotonicMs()) !== null) return;
    this.#receivers.set(receiver, true);
    receiver.sendText(this.#snapshotOf(book));
  }

  remove(receiver: BookReceiver): void {
    this.#receivers.delete(receiver);
    if (this.#receivers.size === 0) this.#unwatch();
  }

  #report(delivery: BookDelta, book: LiveBook): void {
    const prev_seq = this.#position;
    this.#position += 1;
    if (delivery.kind === "snapshot") {
      const text = this.#snapshotOf(book);
      for (const receiver of this.#receivers.keys()) {
        this.#receivers.set(receiver, true);
        receiver.sendText(text);
      }
      return;
    }
    const isChange = delivery.kind === "delta";
    const { assetId } = book;
    const data = isChange
      ? presentBookChange(book, delivery.changes)
      : { token_id: assetId, stale_reason: delivery.reason };
    const { tokenId, subscriptionId: subscription_id } = this.#parts;
    const event = isChange ? "book" : "book_stale";
    const channel = { type: "orderbook", token_id: formatTokenId(tokenId) };
    const placed = { subscription_id, seq: this.#position, prev_seq };
    const packet = new Packet([JSON.stringify({ type: "event", event, channel, ...placed, data })]);
    for (const [receiver, hasBook] of this.#receivers) {
      this.#receivers.set(receiver, isChange && hasBook);
      if (hasBook) receiver.deliver(packet);
    }
  }

  #snapshotOf(book: LiveBook): string {
    const { books, subscriptionId } = this.#parts;
    const nowMs = books.clock.monotonicMs();
    const json = JSON.stringify(presentBook(book, venueLimits.levelsMax, nowMs));
    return snapshotFrame(subscriptionId, { seq: this.#position, rows: [json] });
  }
}
