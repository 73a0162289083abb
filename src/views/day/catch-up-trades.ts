/**
 * What was traded of each token from a position on, as columns by slot: a start adds it to totals of
 * which it looks up none before someone asks for them.
 */
import type { Seq, TokenId } from "../../base/ids.ts";
import type { TokenTotals } from "../../market/market.ts";
import { minuteOf } from "../../market/minute-candle.ts";
import { grown } from "../disk/grown.ts";
import type { ValueChanges } from "../disk/state-store.ts";
import { addTotals, noTotals } from "../markets/token-totals.ts";
import { LastTrades } from "../prices/last-trades.ts";
import { ExactSums } from "./exact-sums.ts";
import type { TokenSlots } from "./token-slots.ts";
import type { StoredTrades } from "./trade-queue.ts";
import { tradesBehind } from "./trade-queue.ts";

/** What stands side by side for each slot. */
const places = {
  trades: 0,
  firstSeq: 1,
  firstTimestamp: 2,
  lastTimestamp: 3,
  firstMinute: 4,
  generations: 5,
} as const;
const width = Object.keys(places).length;

export class CatchUpTrades implements ValueChanges<TokenId, TokenTotals> {
  readonly #from: Seq;
  readonly #setBaseBefore: (tokenId: TokenId, before: TokenTotals) => void;
  #slots: TokenSlots | null = null;
  #numbers = new Float64Array(0);
  readonly #usd = new ExactSums();
  readonly #shares = new ExactSums();
  readonly #priced = new LastTrades();

  /** Of trades from a position on; `setBaseBefore` gets the totals of a token without them. */
  constructor(from: Seq, setBaseBefore: (tokenId: TokenId, before: TokenTotals) => void) {
    this.#from = from;
    this.#setBaseBefore = setBaseBefore;
  }

  /** Adds the next trades, of the tokens in these slots. */
  add(trades: StoredTrades, slots: Int32Array): void {
    const { seqs } = trades;
    let from = trades.length;
    while (from > 0 && (seqs[from - 1] ?? 0) >= this.#from) from -= 1;
    for (let i = from; i < trades.length; i += 1) this.#count(trades, i, slots[i] ?? 0);
    const { sizes, values, exactAt } = tradesBehind(trades, from);
    const later = slots.subarray(from);
    this.#usd.addAll(later, values, (i) => exactAt(i).value);
    this.#shares.addAll(later, sizes, (i) => exactAt(i).size);
  }

  /** Ends adding; tokens are those that have the slots now, anyone who gets them later. */
  end(slots: TokenSlots): void {
    this.#slots = slots.copy();
  }

  /** Slots are below it. */
  get length(): number {
    return this.#slots?.length ?? 0;
  }

  /** Whether something of the token in a slot was added. */
  has(slot: number): boolean {
    return this.#at(slot, "trades") > 0;
  }

  find(tokenId: TokenId): number {
    const slot = this.#slots?.find(tokenId) ?? -1;
    return this.has(slot) ? slot : -1;
  }

  keyAt(slot: number): TokenId | null {
    return this.has(slot) ? (this.#slots?.tokenIdAt(slot) ?? null) : null;
  }

  change(slot: number, tokenId: TokenId, before: TokenTotals = noTotals): TokenTotals {
    this.#setBaseBefore(tokenId, before);
    return addTotals(before, this.#totalsAt(slot));
  }

  /** Where the first trade was made. Unix seconds. */
  firstOf(slot: number): { readonly seq: Seq; readonly timestamp: number } {
    return {
      seq: this.#at(slot, "firstSeq") as Seq,
      timestamp: this.#at(slot, "firstTimestamp"),
    };
  }

  /** Unix seconds. */
  lastTimestampOf(slot: number): number {
    return this.#at(slot, "lastTimestamp");
  }

  /** Micros. */
  volumeUsdOf(slot: number): bigint {
    return this.#usd.get(slot);
  }

  #totalsAt(slot: number): TokenTotals {
    const lastTrade = this.#priced.tradeOf(slot);
    return {
      trades: this.#at(slot, "trades"),
      volumeUsd: this.#usd.get(slot),
      volumeShares: this.#shares.get(slot),
      lastTrade,
      firstTimestamp: this.#at(slot, "firstTimestamp"),
      lastTimestamp: this.#at(slot, "lastTimestamp"),
      firstMinute: lastTrade === null ? null : this.#at(slot, "firstMinute"),
      generations: this.#at(slot, "generations"),
    };
  }

  #count(trades: StoredTrades, i: number, slot: number): void {
    const at = slot * width;
    if (at + width > this.#numbers.length) this.#numbers = grown(this.#numbers, at + width);
    const numbers = this.#numbers;
    const timestamp = trades.timestamps[i] ?? 0;
    const count = numbers[at + places.trades] ?? 0;
    if (count === 0) {
      numbers[at + places.firstSeq] = trades.seqs[i] ?? 0;
      numbers[at + places.firstTimestamp] = timestamp;
    }
    numbers[at + places.trades] = count + 1;
    numbers[at + places.lastTimestamp] = timestamp;
    const bit = 1 << ((trades.generations[i] ?? 1) - 1);
    numbers[at + places.generations] = (numbers[at + places.generations] ?? 0) | bit;
    const isFirst = !this.#priced.has(slot);
    if (this.#priced.note(slot, trades, i) && isFirst) {
      numbers[at + places.firstMinute] = minuteOf(timestamp);
    }
  }

  #at(slot: number, place: keyof typeof places): number {
    return this.#numbers[slot * width + places[place]] ?? 0;
  }
}
