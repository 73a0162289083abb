/**
 * The tokens that were traded within a day, by slot: the market of each, and its last price before the trades in
 * the window. That price can be as old as the chain, so both are saved for the next start.
 */
import type { Seq, TokenId } from "../../base/ids.ts";
import type { Tick } from "../../market/minute-candle.ts";
import { type Column, readId, writeId } from "../disk/column.ts";
import type { StateStore } from "../disk/state-store.ts";
import { ExactColumn } from "./exact-column.ts";

export class DayTokens {
  readonly #ids: Column<"u8">;
  readonly #slots = new Map<TokenId, number>();
  /** 1 for a slot in use. A token keeps its slot until `end`, which frees the slot for another token. */
  readonly #taken: Column<"u8">;
  readonly #free: number[] = [];
  #length: number;
  /** The ordinal of the token's market, plus 1; 0 while the market is unknown. */
  readonly #ordinals: Column<"i32">;
  /** The position of the last price before the window; 0 without a price. */
  readonly #baseSeqs: Column<"f64">;
  /** The last price before the window, in micros. */
  readonly #basePrices: ExactColumn;

  constructor(stateStore: StateStore) {
    this.#ids = stateStore.column("day.ids", "u8");
    this.#taken = stateStore.column("day.taken", "u8");
    this.#ordinals = stateStore.column("day.ordinals", "i32");
    this.#baseSeqs = stateStore.column("day.base_seqs", "f64");
    this.#basePrices = ExactColumn.open(stateStore, "day.base_prices");
    this.#length = this.#taken.values.lastIndexOf(1) + 1;
    for (let slot = 0; slot < this.#length; slot += 1) {
      if (this.#taken.get(slot) === 0) this.#free.push(slot);
      else this.#slots.set(this.tokenIdAt(slot), slot);
    }
  }

  get slots(): readonly number[] {
    const slots = Array.from({ length: this.#length }, (_, slot) => slot);
    return slots.filter((slot) => this.#taken.get(slot) === 1);
  }

  /** The slot of a token; -1 when it has none. */
  find(tokenId: TokenId): number {
    return this.#slots.get(tokenId) ?? -1;
  }

  tokenIdAt(slot: number): TokenId {
    return readId(this.#ids, slot) as TokenId;
  }

  /** Assigns a slot to a token that has none. `base` is its last price before the window. Returns the slot. */
  begin(tokenId: TokenId, base: Tick | null, ordinal: number | null): number {
    const slot = this.#free.pop() ?? this.#length;
    this.#length = Math.max(this.#length, slot + 1);
    writeId(this.#ids, slot, tokenId);
    this.#slots.set(tokenId, slot);
    this.#taken.set(slot, 1);
    this.setBase(slot, base);
    this.setOrdinal(slot, ordinal ?? -1);
    return slot;
  }

  end(slot: number): void {
    this.#slots.delete(this.tokenIdAt(slot));
    this.#taken.set(slot, 0);
    this.#free.push(slot);
  }

  /** The ordinal of a token's market; -1 while the market is unknown. */
  ordinalOf(slot: number): number {
    return this.#ordinals.get(slot) - 1;
  }

  setOrdinal(slot: number, ordinal: number): void {
    this.#ordinals.set(slot, ordinal + 1);
  }

  baseOf(slot: number): Tick | null {
    const seq = this.#baseSeqs.get(slot) as Seq;
    return seq === 0 ? null : { seq, price: BigInt(this.#basePrices.get(slot)) };
  }

  setBase(slot: number, base: Tick | null): void {
    this.#baseSeqs.set(slot, base?.seq ?? 0);
    this.#basePrices.set(slot, base?.price ?? 0n);
  }
}
