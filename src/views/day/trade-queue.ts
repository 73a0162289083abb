import { assert } from "../../base/assert.ts";
import { priceMicros } from "../../base/decimal.ts";
import type { Seq } from "../../base/ids.ts";
import type { Side } from "../../contracts/events.ts";
import type { Tick } from "../../market/candle.ts";
import type { DayTrade } from "../../market/fill.ts";
import type { Column } from "../disk/column.ts";
import { type Amount, ExactColumn } from "../disk/exact-column.ts";
import type { StateStore } from "../disk/state-store.ts";

/** Trades of a page, a power of two. Room in the columns is taken and freed by the page. */
export const pageTrades = 2 ** 15;

/** What the price of a trade follows from. A trade of size 0 has none. */
export type TradedAmounts = { readonly seq: Seq; readonly size: Amount; readonly value: Amount };

/**
 * Trades in chain order that enter at one end and leave at the other, in columns: 41 bytes each. A trade is
 * identified by its number. Numbers begin at 1, rise by one with every trade and never change. A trade is
 * linked to the previous and the next trade of its token.
 */
export class TradeQueue {
  readonly #slots: Column<"i32">;
  readonly #seqs: Column<"f64">;
  readonly #timestamps: Column<"u32">;
  /** Micros. */
  readonly #sizes: ExactColumn;
  readonly #values: ExactColumn;
  readonly #buys: Column<"u8">;
  /** The distance to the previous trade of the same token, in trades; 0 for none. That trade can have left the queue. */
  readonly #before: Column<"u32">;
  /** The distance to the next trade of the same token, in trades; 0 for none. */
  readonly #after: Column<"u32">;
  /** Where each page begins in the columns. The oldest trade is in the first page. */
  #pages: number[] = [];
  #pagesFrom = 1;
  /** Where pages without trades begin. */
  readonly #free: number[] = [];
  #oldest = 1;
  #next = 1;
  /** Where the queue began and ended when it was saved, and its pages. */
  readonly #saved: Column<"f64">;

  /** Continues from the last save of the state store, or begins empty. */
  constructor(stateStore: StateStore) {
    this.#slots = stateStore.column("day_trades.slots", "i32");
    this.#seqs = stateStore.column("day_trades.seqs", "f64");
    this.#timestamps = stateStore.column("day_trades.timestamps", "u32");
    this.#sizes = ExactColumn.open(stateStore, "day_trades.sizes");
    this.#values = ExactColumn.open(stateStore, "day_trades.values");
    this.#buys = stateStore.column("day_trades.buys", "u8");
    this.#before = stateStore.column("day_trades.before", "u32");
    this.#after = stateStore.column("day_trades.after", "u32");
    this.#saved = stateStore.column("day_trades.queue", "f64");
    this.#restore();
  }

  /** Records the ends and pages of the queue for the next start. */
  prepareSave(): void {
    const numbers = [this.#oldest, this.#next, this.#pagesFrom, this.#pages.length, ...this.#pages];
    for (const [at, number] of numbers.entries()) this.#saved.set(at, number);
  }

  #restore(): void {
    const [oldest = 0, next = 0, pagesFrom = 0, count = 0] = this.#saved.values;
    if (oldest === 0) return;
    [this.#oldest, this.#next, this.#pagesFrom] = [oldest, next, pagesFrom];
    this.#pages = [...this.#saved.values.subarray(4, 4 + count)];
    for (let start = 0; start < Math.max(...this.#pages); start += pageTrades) {
      if (!this.#pages.includes(start)) this.#free.push(start);
    }
  }

  /** The number of the oldest trade, or of the next one when there is none. */
  get oldest(): number {
    return this.#oldest;
  }

  get next(): number {
    return this.#next;
  }

  /** Adds the newest trade, and returns its number. `before` is the previous trade of its token, 0 for none. */
  push(slot: number, trade: Omit<DayTrade, "tokenId">, before: number): number {
    const number = this.#next;
    if (number >= this.#pagesFrom + this.#pages.length * pageTrades) {
      // Without a free page, the pages of the queue are all there are.
      this.#pages.push(this.#free.pop() ?? this.#pages.length * pageTrades);
    }
    this.#next += 1;
    const at = this.#at(number);
    this.#slots.set(at, slot);
    this.#seqs.set(at, trade.seq);
    this.#timestamps.set(at, trade.timestamp);
    this.#sizes.set(at, trade.size);
    this.#values.set(at, trade.value);
    this.#buys.set(at, trade.side === "BUY" ? 1 : 0);
    this.#after.set(at, 0);
    this.#before.set(at, before === 0 ? 0 : number - before);
    if (before !== 0) this.#after.set(this.#at(before), number - before);
    return number;
  }

  pop(): void {
    assert(this.#next > this.#oldest, "there is a trade to remove");
    this.#next -= 1;
    const before = this.getBefore(this.#next);
    if (before !== 0) this.#after.set(this.#at(before), 0);
  }

  shift(): void {
    assert(this.#next > this.#oldest, "there is a trade to remove");
    this.#oldest += 1;
    if (this.#oldest < this.#pagesFrom + pageTrades) return;
    this.#free.push(...this.#pages.splice(0, 1));
    this.#pagesFrom += pageTrades;
  }

  toSeq(number: number): Seq {
    return this.#seqs.get(this.#at(number)) as Seq;
  }

  getTimestamp(number: number): number {
    return this.#timestamps.get(this.#at(number));
  }

  getSlot(number: number): number {
    return this.#slots.get(this.#at(number));
  }

  getSide(number: number): Side {
    return this.#buys.get(this.#at(number)) === 1 ? "BUY" : "SELL";
  }

  /** The number of the previous trade of the same token; 0 when there is none in the queue. */
  getBefore(number: number): number {
    const distance = this.#before.get(this.#at(number));
    const before = number - distance;
    return distance === 0 || before < this.#oldest ? 0 : before;
  }

  /** The number of the next trade of the same token; 0 when there is none. */
  getAfter(number: number): number {
    const distance = this.#after.get(this.#at(number));
    return distance === 0 ? 0 : number + distance;
  }

  getAmounts(number: number): TradedAmounts {
    const at = this.#at(number);
    const seq = this.#seqs.get(at) as Seq;
    return { seq, size: this.#sizes.get(at), value: this.#values.get(at) };
  }

  getTick(number: number): Tick | null {
    return getTick(this.getAmounts(number));
  }

  /** The index of a trade in the columns. */
  #at(number: number): number {
    const distance = number - this.#pagesFrom;
    const page = this.#pages[Math.floor(distance / pageTrades)];
    assert(page !== undefined, "the trade is in the queue");
    return page + (distance & (pageTrades - 1));
  }
}

/** The position and the price of a trade; `null` when the trade has no price. */
export function getTick({ seq, size, value }: TradedAmounts): Tick | null {
  const price = priceMicros(BigInt(value), BigInt(size));
  return price === null ? null : { seq, price };
}
