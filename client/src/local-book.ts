import type { Decimal, OrderBook, StreamEvent } from "./api.ts";
import { crc32 } from "./crc32.ts";
import type { StreamFrame } from "./stream-frames.ts";

/** The level at one price; a size of `"0"` in a change takes the level away. */
export type Level = { readonly price: Decimal; readonly size: Decimal };

/** Levels that changed, and the checksum of the book with them taken in. */
export type BookChange = Extract<StreamEvent, { readonly event: "book" }>["data"];

/** The book cannot be relied upon until it comes whole again. */
export type BookStale = Extract<StreamEvent, { readonly event: "book_stale" }>["data"];

/** A frame of the channel of a book. */
export type BookFrame = StreamFrame<OrderBook | BookChange | BookStale>;

/** Levels of each side that the checksum covers. */
const checkedLevels = 10;

/** A copy of one order book, kept by changes and proven by their checksums. */
export class LocalBook {
  readonly #bids = new Map<Decimal, Decimal>();
  readonly #asks = new Map<Decimal, Decimal>();
  #staleReason: string | null = "it has not come yet";

  /** Why the copy cannot be relied upon; `null` when it can. */
  get staleReason(): string | null {
    return this.#staleReason;
  }

  /** Best first. */
  get bids(): readonly Level[] {
    return levelsOf(this.#bids).toReversed();
  }

  /** Best first. */
  get asks(): readonly Level[] {
    return levelsOf(this.#asks);
  }

  /** Takes in a frame; `false` when the copy is then not the book that was meant. */
  take(frame: BookFrame): boolean {
    if (frame.type === "snapshot") this.#replace(frame.data.at(-1) as OrderBook);
    if (frame.type !== "event") return true;
    if ("checksum" in frame.data) return this.#change(frame.data);
    this.#staleReason = frame.data.stale_reason;
    return true;
  }

  #replace({ bids, asks, stale_reason: staleReason }: OrderBook): void {
    this.#bids.clear();
    this.#asks.clear();
    setAll(this.#bids, bids);
    setAll(this.#asks, asks);
    this.#staleReason = staleReason;
  }

  #change({ bids, asks, checksum }: BookChange): boolean {
    setAll(this.#bids, bids);
    setAll(this.#asks, asks);
    if (this.checksum === checksum) return true;
    this.#staleReason = "its checksum does not fit";
    return false;
  }

  /** CRC-32 over the best levels: asks, then bids, each price and size in millionths. */
  get checksum(): number {
    const checked = [...this.asks.slice(0, checkedLevels), ...this.bids.slice(0, checkedLevels)];
    return crc32(
      checked.map(({ price, size }) => `${millionths(price)}${millionths(size)}`).join(""),
    );
  }
}

function setAll(side: Map<Decimal, Decimal>, levels: readonly Level[]): void {
  for (const { price, size } of levels) {
    if (size === "0") side.delete(price);
    else side.set(price, size);
  }
}

function levelsOf(side: ReadonlyMap<Decimal, Decimal>): Level[] {
  return [...side]
    .map(([price, size]) => ({ price, size }))
    .toSorted((a, b) => Number(millionths(a.price) - millionths(b.price)));
}

/** A decimal of at most 6 fractional digits as a whole number. */
function millionths(decimal: Decimal): bigint {
  const [whole = "0", fraction = ""] = decimal.split(".");
  return BigInt(whole + fraction.padEnd(6, "0"));
}
