/**
 * The tokens that were traded within a day, by slot: the market of each, and its last priced trade before those in
 * the window. That trade can be as old as the chain, so both are saved for the next start.
 */
import type { Seq, TokenId } from "../../base/ids.ts";
import type { Tick } from "../../market/candle.ts";
import { type Column, readId, writeId } from "../disk/column.ts";
import { ExactColumn } from "../disk/exact-column.ts";
import type { StateStore } from "../disk/state-store.ts";
import { getTick, type TradedAmounts } from "./trade-queue.ts";

export class DayTokens {
  readonly #ids: Column<"u8">;
  readonly #slots = new Map<TokenId, number>();
  /** 1 for a slot in use. A token keeps its slot until `end`, which frees the slot for another token. */
  readonly #taken: Column<"u8">;
  readonly #free: number[] = [];
  #length: number;
  /** The ordinal of the token's market, plus 1; 0 before the market is known. A reorg does not change it. */
  readonly #ordinals: Column<"i32">;
  /** The position of the last priced trade before the window, 0 without one, and its amounts in micros. */
  readonly #baseSeqs: Column<"f64">;
  readonly #baseSizes: ExactColumn;
  readonly #baseValues: ExactColumn;

  constructor(stateStore: StateStore) {
    this.#ids = stateStore.column("day.ids", "u8");
    this.#taken = stateStore.column("day.taken", "u8");
    this.#ordinals = stateStore.column("day.ordinals", "i32");
    this.#baseSeqs = stateStore.column("day.base_seqs", "f64");
    this.#baseSizes = ExactColumn.open(stateStore, "day.base_sizes");
    this.#baseValues = ExactColumn.open(stateStore, "day.base_values");
    this.#length = this.#taken.values.lastIndexOf(1) + 1;
    for (let slot = 0; slot < this.#length; slot += 1) {
      if (this.#taken.get(slot) === 0) this.#free.push(slot);
      else this.#slots.set(this.tokenIdAt(slot), slot);
    }
  }

  get slots(): readonly number[] {
    return [...this.#slots.values()];
  }

  /** The slot of a token; -1 when it has none. */
  find(tokenId: TokenId): number {
    return this.#slots.get(tokenId) ?? -1;
  }

  tokenIdAt(slot: number): TokenId {
    return readId(this.#ids, slot) as TokenId;
  }

  /** Assigns a slot to a token that has none. `base` is its last trade before the window. Returns the slot. */
  begin(tokenId: TokenId, base: TradedAmounts | null, ordinal: number | null): number {
    const slot = this.#free.pop() ?? this.#length;
    this.#length = Math.max(this.#length, slot + 1);
    writeId(this.#ids, slot, tokenId);
    this.#slots.set(tokenId, slot);
    this.#taken.set(slot, 1);
    this.#baseSeqs.set(slot, 0);
    if (base !== null) this.setBase(slot, base);
    this.setOrdinal(slot, ordinal ?? -1);
    return slot;
  }

  end(slot: number): void {
    this.#slots.delete(this.tokenIdAt(slot));
    this.#taken.set(slot, 0);
    this.#free.push(slot);
  }

  /** The ordinal of a token's market; -1 before the market is known. */
  getOrdinal(slot: number): number {
    return this.#ordinals.get(slot) - 1;
  }

  setOrdinal(slot: number, ordinal: number): void {
    this.#ordinals.set(slot, ordinal + 1);
  }

  getBase(slot: number): Tick | null {
    const seq = this.#baseSeqs.get(slot) as Seq;
    const [size, value] = [this.#baseSizes.get(slot), this.#baseValues.get(slot)];
    return seq === 0 ? null : getTick({ seq, size, value });
  }

  /** Sets the last trade before the window. Ignores a trade without a price. */
  setBase(slot: number, { seq, size, value }: TradedAmounts): void {
    if (size <= 0) return;
    this.#baseSeqs.set(slot, seq);
    this.#baseSizes.set(slot, size);
    this.#baseValues.set(slot, value);
  }
}
