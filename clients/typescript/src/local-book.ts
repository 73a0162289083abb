import type { Decimal, OrderBook } from "./api.ts";
import { crc32 } from "./crc32.ts";
import type { BookChange, BookStale, StreamFrame } from "./stream-frames.ts";

/** A price level. In a change, a size of `"0"` removes the level. */
export type Level = { readonly price: Decimal; readonly size: Decimal };

/** A frame of the `orderbook` channel. */
export type BookFrame = StreamFrame<OrderBook | BookChange | BookStale>;

/** Levels of each side that the checksum covers. */
const checkedLevels = 10;

/** A copy of one order book, updated by changes and verified by their checksums. */
export class LocalBook {
  readonly #bids = new Map<Decimal, Decimal>();
  readonly #asks = new Map<Decimal, Decimal>();
  #staleReason: string | null = "it has not come yet";

  /** Why the copy is stale; `null` if it is not. */
  get staleReason(): string | null {
    return this.#staleReason;
  }

  /** Best first. */
  get bids(): readonly Level[] {
    return getLevels(this.#bids).toReversed();
  }

  /** Best first. */
  get asks(): readonly Level[] {
    return getLevels(this.#asks);
  }

  /** Applies a frame. Returns `false` if the checksum of a change does not match. */
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

function getLevels(side: ReadonlyMap<Decimal, Decimal>): Level[] {
  return [...side]
    .map(([price, size]) => ({ price, size }))
    .toSorted((a, b) => Number(millionths(a.price) - millionths(b.price)));
}

/** Converts a decimal of at most 6 fractional digits to millionths. */
function millionths(decimal: Decimal): bigint {
  const [whole = "0", fraction = ""] = decimal.split(".");
  return BigInt(whole + fraction.padEnd(6, "0"));
}
