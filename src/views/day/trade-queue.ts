/**
 * Trades in chain order that come at one end and go at the other, as columns of numbers outside of
 * the heap, in pages: 31 bytes each. A trade is known by its number, which is above 0, rises by one
 * with every trade and never changes; it knows the trades before and after it of its token.
 */
import { assert } from "../../base/assert.ts";
import { priceMicros } from "../../base/decimal.ts";
import type { Seq } from "../../base/ids.ts";
import type { Tick } from "../../market/minute-candle.ts";
import { pageShift, pageTrades, TradePage } from "./trade-page.ts";

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

/** Trades that follow each other, as columns. */
export type TradeColumns = {
  readonly length: number;
  readonly seqs: Float64Array;
  readonly timestamps: Uint32Array;
  /** Micros; `NaN` in both where one of them is no safe integer. */
  readonly sizes: Float64Array;
  readonly values: Float64Array;
  /** 1 for a buy, else 0. */
  readonly buys: Uint8Array;
  /** The amounts at an index where they are `NaN`. */
  readonly exactAt: (index: number) => Pick<QueuedTrade, "size" | "value">;
};

/** Trades in chain order as they are stored, with the words of the ids of their tokens. */
export type StoredTrades = TradeColumns & {
  /** The generations of the exchanges. */
  readonly generations: Uint8Array;
  readonly tokenIds: Uint32Array;
  /** The words of the hashes of their transactions. */
  readonly txHashes: Uint32Array;
};

/** The same trades from an index on. */
export function tradesBehind(trades: TradeColumns, from: number): TradeColumns {
  if (from === 0) return trades;
  const { seqs, timestamps, sizes, values, buys } = trades;
  return {
    length: trades.length - from,
    seqs: seqs.subarray(from),
    timestamps: timestamps.subarray(from),
    sizes: sizes.subarray(from),
    values: values.subarray(from),
    buys: buys.subarray(from),
    exactAt: (index) => trades.exactAt(from + index),
  };
}

export class TradeQueue {
  /** Of the trades from number `#pagesFrom` on; the oldest trade is in the first one. */
  readonly #pages = [new TradePage()];
  #pagesFrom = 1;
  /** The number of the oldest trade. */
  #oldest = 1;
  #next = 1;
  /** By number, the amounts of trades of which a page does not hold both. */
  readonly #large = new Map<number, Pick<QueuedTrade, "size" | "value">>();

  /** The number of the oldest trade, or of the next one when there is none. */
  get oldest(): number {
    return this.#oldest;
  }

  /** The number of the next trade. */
  get next(): number {
    return this.#next;
  }

  /** Adds the newest trade, of the token in a slot whose trade before it is given; its number. */
  push(slot: number, trade: QueuedTrade, before: number): number {
    const number = this.#next;
    this.#makeRoom(number);
    this.#next += 1;
    const [page, at] = [this.#page(number), this.#at(number)];
    const { size, value } = trade;
    page.slots[at] = slot;
    page.setPlace(at, trade.seq, trade.timestamp);
    page.buys[at] = trade.isBuy ? 1 : 0;
    const isSizeEqual = page.sizes.set(at, safe(size));
    const isUnfinalized = page.values.set(at, safe(value)) && isSizeEqual;
    if (!isUnfinalized) this.#large.set(number, { size, value });
    this.#link(number, before);
    return number;
  }

  /**
   * Adds the newest trades, of the tokens in these slots; the number of the first. `newestOf` has the
   * newest trade of each slot, 0 for none, and is kept up.
   */
  append(trades: TradeColumns, slots: Int32Array, newestOf: Float64Array): number {
    const first = this.#next;
    for (let from = 0; from < trades.length; ) {
      this.#makeRoom(first + from);
      const [page, at] = [this.#page(first + from), this.#at(first + from)];
      const to = Math.min(trades.length, from + pageTrades - at);
      page.slots.set(slots.subarray(from, to), at);
      page.buys.set(trades.buys.subarray(from, to), at);
      for (let i = from; i < to; i += 1) {
        page.setPlace(at + i - from, trades.seqs[i] ?? 0, trades.timestamps[i] ?? 0);
      }
      const areSizesEqual = page.sizes.setAll(at, trades.sizes.subarray(from, to));
      const areUnfinalized =
        page.values.setAll(at, trades.values.subarray(from, to)) && areSizesEqual;
      if (!areUnfinalized) this.#keepLarge(page, trades, { from, to, number: first + from });
      this.#linkAll(page, { first: first + from, count: to - from, newestOf });
      from = to;
    }
    this.#next += trades.length;
    return first;
  }

  /** Keeps the amounts that a page does not hold of the trades from an index on, which have numbers from `number` on. */
  #keepLarge(
    page: TradePage,
    trades: TradeColumns,
    { from, to, number }: { from: number; to: number; number: number },
  ): void {
    for (let i = from; i < to; i += 1) {
      const at = this.#at(number + i - from);
      const [size, value] = [trades.sizes[i] ?? 0, trades.values[i] ?? 0];
      if (!Number.isNaN(page.sizes.get(at) + page.values.get(at))) continue;
      const amounts = Number.isNaN(size) ? trades.exactAt(i) : { size, value };
      this.#large.set(number + i - from, amounts);
    }
  }

  /** The same as `#link` for each of some trades of a page, whose slots are there. */
  #linkAll(
    { slots, before, after }: TradePage,
    { first, count, newestOf }: { first: number; count: number; newestOf: Float64Array },
  ): void {
    const start = this.#at(first);
    for (let i = 0; i < count; i += 1) {
      const number = first + i;
      const slot = slots[start + i] ?? 0;
      const known = newestOf[slot] ?? 0;
      const distance = known === 0 ? 0 : number - known;
      before[start + i] = distance;
      after[start + i] = 0;
      newestOf[slot] = number;
      if (distance === 0) continue;
      const others = known >= first ? after : this.#page(known).after;
      others[this.#at(known)] = distance;
    }
  }

  /** Says which trade of its token was before one, which is that token's newest; 0 for none. */
  #link(number: number, before: number): void {
    const [page, at] = [this.#page(number), this.#at(number)];
    page.before[at] = before === 0 ? 0 : number - before;
    page.after[at] = 0;
    if (before !== 0) this.#page(before).after[this.#at(before)] = number - before;
  }

  /** Takes the newest trade away. */
  pop(): void {
    assert(this.#next > this.#oldest, "there is a trade to take away");
    this.#next -= 1;
    const before = this.beforeOf(this.#next);
    if (before !== 0) this.#page(before).after[this.#at(before)] = 0;
    this.#large.delete(this.#next);
  }

  /** Lets the oldest trade go. */
  shift(): void {
    assert(this.#next > this.#oldest, "there is a trade to released");
    const after = this.afterOf(this.#oldest);
    if (after !== 0) this.#page(after).before[this.#at(after)] = 0;
    this.#large.delete(this.#oldest);
    this.#oldest += 1;
    if (this.#oldest < this.#pagesFrom + pageTrades) return;
    this.#pages.shift();
    this.#pagesFrom += pageTrades;
  }

  seqOf(number: number): Seq {
    return this.#page(number).seqAt(this.#at(number)) as Seq;
  }

  timestampOf(number: number): number {
    return this.#page(number).timestampAt(this.#at(number));
  }

  slotOf(number: number): number {
    return this.#page(number).slots[this.#at(number)] ?? 0;
  }

  sizeOf(number: number): Amount {
    const size = this.#page(number).sizes.get(this.#at(number));
    return Number.isNaN(size) ? (this.#large.get(number)?.size ?? 0) : size;
  }

  valueOf(number: number): Amount {
    const value = this.#page(number).values.get(this.#at(number));
    return Number.isNaN(value) ? (this.#large.get(number)?.value ?? 0) : value;
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

  /** Where a trade was made and at which price; `null` when it has none. */
  tickOf(number: number): Tick | null {
    const price = priceMicros(BigInt(this.valueOf(number)), BigInt(this.sizeOf(number)));
    return price === null ? null : { seq: this.seqOf(number), price };
  }

  /** Makes the page of the next trade, if it is the first there. */
  #makeRoom(number: number): void {
    if (number >= this.#pagesFrom + this.#pages.length * pageTrades)
      this.#pages.push(new TradePage());
  }

  #page(number: number): TradePage {
    const page = this.#pages[(number - this.#pagesFrom) >>> pageShift];
    assert(page !== undefined, "a trade is asked for while it is held");
    return page;
  }

  #at(number: number): number {
    return (number - this.#pagesFrom) & (pageTrades - 1);
  }
}

/** The amount as a number, `NaN` where that would not be exact. */
function safe(amount: Amount): number {
  const number = Number(amount);
  return Number.isSafeInteger(number) ? number : Number.NaN;
}
