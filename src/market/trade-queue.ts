/**
 * Trades in chain order that come at one end and go at the other, as columns of numbers outside of
 * the heap: 49 bytes each. A trade is known by its number, which is above 0, rises by one with every
 * trade and never changes; it knows the trades before and after it of its token.
 */

import { assert } from "../base/assert.ts";
import { priceMicros } from "../base/decimal.ts";
import type { Seq } from "../base/ids.ts";
import type { Tick } from "./minute-candle.ts";

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

const roomMin = 1024;
/** More room is made by this much of what there is, so that making it costs little. */
const growth = 1.5;

/** The columns, with room for so many trades. */
function columnsFor(room: number) {
  return {
    seqs: new Float64Array(room),
    timestamps: new Uint32Array(room),
    slots: new Int32Array(room),
    /** `NaN` where the exact one is kept elsewhere. */
    sizes: new Float64Array(room),
    values: new Float64Array(room),
    buys: new Uint8Array(room),
    before: new Float64Array(room),
    after: new Float64Array(room),
  };
}

export class TradeQueue {
  #columns = columnsFor(roomMin);
  #room = roomMin;
  /** The number of the oldest trade, and where it stands; those behind it follow in a circle. */
  #oldest = 1;
  #oldestAt = 0;
  #next = 1;
  /** By number, the amounts that are no safe integers. */
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
    this.#reserve(1);
    const number = this.#next;
    this.#next += 1;
    const at = this.#at(number);
    const { seqs, timestamps, slots, sizes, values, buys } = this.#columns;
    const { size, value } = trade;
    const isSafe = isSafeAmount(size) && isSafeAmount(value);
    seqs[at] = trade.seq;
    timestamps[at] = trade.timestamp;
    slots[at] = slot;
    sizes[at] = isSafe ? Number(size) : Number.NaN;
    values[at] = isSafe ? Number(value) : Number.NaN;
    buys[at] = trade.isBuy ? 1 : 0;
    if (!isSafe) this.#large.set(number, { size, value });
    this.link(number, before);
    return number;
  }

  /**
   * Adds the newest trades, of the tokens in these slots, each to be linked in order; the number of
   * the first.
   */
  append(trades: TradeColumns, slots: Int32Array): number {
    this.#reserve(trades.length);
    const first = this.#next;
    const at = this.#at(first);
    // Up to the end of the columns, and the rest from their start on.
    const fit = Math.min(trades.length, this.#room - at);
    const columns = this.#columns;
    for (const name of ["seqs", "timestamps", "sizes", "values", "buys"] as const) {
      columns[name].set(trades[name].subarray(0, fit), at);
      columns[name].set(trades[name].subarray(fit, trades.length));
    }
    columns.slots.set(slots.subarray(0, fit), at);
    columns.slots.set(slots.subarray(fit));
    for (let i = 0; i < trades.length; i += 1) {
      if (Number.isNaN(trades.sizes[i])) this.#large.set(first + i, trades.exactAt(i));
    }
    this.#next += trades.length;
    return first;
  }

  /** Says which trade of its token was before one, which is that token's newest; 0 for none. */
  link(number: number, before: number): void {
    const { before: befores, after } = this.#columns;
    const at = this.#at(number);
    befores[at] = before;
    after[at] = 0;
    if (before !== 0) after[this.#at(before)] = number;
  }

  /** Takes the newest trade away. */
  pop(): void {
    assert(this.#next > this.#oldest, "there is a trade to take away");
    this.#next -= 1;
    const before = this.beforeOf(this.#next);
    if (before !== 0) this.#columns.after[this.#at(before)] = 0;
    this.#large.delete(this.#next);
  }

  /** Lets the oldest trade go. */
  shift(): void {
    assert(this.#next > this.#oldest, "there is a trade to let go");
    const after = this.afterOf(this.#oldest);
    if (after !== 0) this.#columns.before[this.#at(after)] = 0;
    this.#large.delete(this.#oldest);
    this.#oldest += 1;
    this.#oldestAt = this.#oldestAt + 1 === this.#room ? 0 : this.#oldestAt + 1;
  }

  seqOf(number: number): Seq {
    return (this.#columns.seqs[this.#at(number)] ?? 0) as Seq;
  }

  timestampOf(number: number): number {
    return this.#columns.timestamps[this.#at(number)] ?? 0;
  }

  slotOf(number: number): number {
    return this.#columns.slots[this.#at(number)] ?? 0;
  }

  sizeOf(number: number): Amount {
    const size = this.#columns.sizes[this.#at(number)] ?? 0;
    return Number.isNaN(size) ? (this.#large.get(number)?.size ?? 0) : size;
  }

  valueOf(number: number): Amount {
    const value = this.#columns.values[this.#at(number)] ?? 0;
    return Number.isNaN(value) ? (this.#large.get(number)?.value ?? 0) : value;
  }

  isBuy(number: number): boolean {
    return this.#columns.buys[this.#at(number)] === 1;
  }

  /** The number of the trade before of the same token; 0 when there is none. */
  beforeOf(number: number): number {
    return this.#columns.before[this.#at(number)] ?? 0;
  }

  /** The number of the trade after it of the same token; 0 when there is none. */
  afterOf(number: number): number {
    return this.#columns.after[this.#at(number)] ?? 0;
  }

  /** Where a trade was made and at which price; `null` when it has none. */
  tickOf(number: number): Tick | null {
    const price = priceMicros(BigInt(this.valueOf(number)), BigInt(this.sizeOf(number)));
    return price === null ? null : { seq: this.seqOf(number), price };
  }

  /** Makes room for so many more trades. */
  #reserve(more: number): void {
    const wanted = this.#next - this.#oldest + more;
    if (wanted <= this.#room) return;
    const room = Math.max(wanted, Math.ceil(this.#room * growth));
    const [known, wider] = [this.#columns, columnsFor(room)];
    for (const name of Object.keys(known) as (keyof typeof known)[]) {
      wider[name].set(known[name].subarray(this.#oldestAt));
      wider[name].set(known[name].subarray(0, this.#oldestAt), this.#room - this.#oldestAt);
    }
    this.#columns = wider;
    this.#room = room;
    this.#oldestAt = 0;
  }

  #at(number: number): number {
    const at = this.#oldestAt + (number - this.#oldest);
    return at < this.#room ? at : at - this.#room;
  }
}

/** A `bigint` that is safe counts as well: it is kept as a number. */
function isSafeAmount(amount: Amount): boolean {
  return Number.isSafeInteger(Number(amount));
}
