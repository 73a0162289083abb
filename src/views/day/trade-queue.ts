import { assert } from "../../base/assert.ts";
import { priceMicros } from "../../base/decimal.ts";
import type { Seq } from "../../base/ids.ts";
import type { Tick } from "../../market/minute-candle.ts";

/** An integer of micros: a safe one, or a `bigint` where that would not be exact. */
export type Amount = number | bigint;

/** A trade without its token. Micros, unix seconds. */
export type QueuedTrade = {
  readonly seq: Seq;
  readonly timestamp: number;
  readonly size: Amount;
  readonly value: Amount;
  readonly isBuy: boolean;
};

/** Trades of a page, a power of two: a megabyte is allocated and released at a time. */
export const pageTrades = 2 ** 15;

class TradePage {
  readonly slots = new Int32Array(pageTrades);
  readonly seqs = new Float64Array(pageTrades);
  readonly timestamps = new Uint32Array(pageTrades);
  /** Micros; `NaN` where one of the two is not a safe integer. */
  readonly sizes = new Float64Array(pageTrades);
  readonly values = new Float64Array(pageTrades);
  readonly buys = new Uint8Array(pageTrades);
  /** How many trades before and after it the nearest one of its token is; 0 for none. */
  readonly before = new Uint32Array(pageTrades);
  readonly after = new Uint32Array(pageTrades);
}

/**
 * Trades in chain order that enter at one end and leave at the other, outside of the heap: 41 bytes each. A trade
 * is known by its number, which is above 0, rises by one with every trade and never changes; it knows the
 * trades of its token before and after it.
 */
export class TradeQueue {
  /** Of the trades from number `#pagesFrom` on; the oldest trade is in the first one. */
  readonly #pages = [new TradePage()];
  #pagesFrom = 1;
  #oldest = 1;
  #next = 1;
  /** By number, the amounts that a page has not. */
  readonly #large = new Map<number, Pick<QueuedTrade, "size" | "value">>();

  /** The number of the oldest trade, or of the next one when there is none. */
  get oldest(): number {
    return this.#oldest;
  }

  get next(): number {
    return this.#next;
  }

  /** Adds the newest trade, of the token in a slot whose trade before it is given, 0 for none; returns its number. */
  push(slot: number, trade: QueuedTrade, before: number): number {
    const number = this.#next;
    if (number >= this.#pagesFrom + this.#pages.length * pageTrades) {
      this.#pages.push(new TradePage());
    }
    this.#next += 1;
    const [page, at] = [this.#page(number), this.#at(number)];
    const { size, value } = trade;
    const [safeSize, safeValue] = [Number(size), Number(value)];
    const isSafe = Number.isSafeInteger(safeSize) && Number.isSafeInteger(safeValue);
    if (!isSafe) this.#large.set(number, { size, value });
    page.slots[at] = slot;
    page.seqs[at] = trade.seq;
    page.timestamps[at] = trade.timestamp;
    page.sizes[at] = isSafe ? safeSize : Number.NaN;
    page.values[at] = isSafe ? safeValue : Number.NaN;
    page.buys[at] = trade.isBuy ? 1 : 0;
    page.after[at] = 0;
    page.before[at] = before === 0 ? 0 : number - before;
    if (before !== 0) this.#page(before).after[this.#at(before)] = number - before;
    return number;
  }

  pop(): void {
    assert(this.#next > this.#oldest, "there is a trade to remove");
    this.#next -= 1;
    const before = this.beforeOf(this.#next);
    if (before !== 0) this.#page(before).after[this.#at(before)] = 0;
    this.#large.delete(this.#next);
  }

  shift(): void {
    assert(this.#next > this.#oldest, "there is a trade to remove");
    const after = this.afterOf(this.#oldest);
    if (after !== 0) this.#page(after).before[this.#at(after)] = 0;
    this.#large.delete(this.#oldest);
    this.#oldest += 1;
    if (this.#oldest < this.#pagesFrom + pageTrades) return;
    this.#pages.shift();
    this.#pagesFrom += pageTrades;
  }

  seqOf(number: number): Seq {
    return (this.#page(number).seqs[this.#at(number)] ?? 0) as Seq;
  }

  timestampOf(number: number): number {
    return this.#page(number).timestamps[this.#at(number)] ?? 0;
  }

  slotOf(number: number): number {
    return this.#page(number).slots[this.#at(number)] ?? 0;
  }

  sizeOf(number: number): Amount {
    return this.#large.get(number)?.size ?? this.#page(number).sizes[this.#at(number)] ?? 0;
  }

  valueOf(number: number): Amount {
    return this.#large.get(number)?.value ?? this.#page(number).values[this.#at(number)] ?? 0;
  }

  isBuy(number: number): boolean {
    return this.#page(number).buys[this.#at(number)] === 1;
  }

  /** The number of the trade before of the same token; 0 when there is none. */
  beforeOf(number: number): number {
    const distance = this.#page(number).before[this.#at(number)] ?? 0;
    return distance === 0 ? 0 : number - distance;
  }

  /** The number of the trade after it of the same token; 0 when there is none. */
  afterOf(number: number): number {
    const distance = this.#page(number).after[this.#at(number)] ?? 0;
    return distance === 0 ? 0 : number + distance;
  }

  tickOf(number: number): Tick | null {
    const [size, value] = [this.sizeOf(number), this.valueOf(number)];
    return tickOf({ seq: this.seqOf(number), size, value });
  }

  #page(number: number): TradePage {
    const page = this.#pages[Math.floor((number - this.#pagesFrom) / pageTrades)];
    assert(page !== undefined, "the trade is in the queue");
    return page;
  }

  #at(number: number): number {
    return (number - this.#pagesFrom) & (pageTrades - 1);
  }
}

/** Where a trade was made and at which price; `null` when it has none. */
export function tickOf({
  seq,
  size,
  value,
}: Pick<QueuedTrade, "seq" | "size" | "value">): Tick | null {
  const price = priceMicros(BigInt(value), BigInt(size));
  return price === null ? null : { seq, price };
}
