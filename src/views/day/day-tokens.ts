/**
 * The tokens that were traded within a day, by slot: which market each is of, and its last price before the
 * trades in the window. That price may be as old as the chain, so both are saved for a start to go on from.
 */
import type { Seq, TokenId } from "../../base/ids.ts";
import type { Tick } from "../../market/minute-candle.ts";
import type { Column } from "../disk/column.ts";
import type { Codec, StateStore, StateTable } from "../disk/state-store.ts";

const idBytes = 32;

export class DayTokens {
  readonly #ids: Column<"u8">;
  readonly #slots = new Map<TokenId, number>();
  /** 1 where a slot is a token's; it stays so until it is given back, and then goes to another one. */
  readonly #taken: Column<"u8">;
  readonly #free: number[] = [];
  #length: number;
  /** Where its market is in the columns, plus 1; 0 while that is not known. */
  readonly #ordinals: Column<"i32">;
  /** 0 without a price; a price that is no safe integer is `NaN` here, and in the table. */
  readonly #baseSeqs: Column<"f64">;
  readonly #basePrices: Column<"f64">;
  readonly #largeBases: StateTable<TokenId, Tick>;

  constructor(stateStore: StateStore) {
    this.#ids = stateStore.column("day.ids", "u8");
    this.#taken = stateStore.column("day.taken", "u8");
    this.#ordinals = stateStore.column("day.ordinals", "i32");
    this.#baseSeqs = stateStore.column("day.base_seqs", "f64");
    this.#basePrices = stateStore.column("day.base_prices", "f64");
    this.#largeBases = stateStore.table("day_bases", tickCodec);
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
    const digits = Buffer.from(this.#ids.values.buffer, slot * idBytes, idBytes).toString("hex");
    return `0x${digits}` as TokenId;
  }

  /** Gives a slot to a token that has none, with its last price before and its market, if that is known. */
  begin(tokenId: TokenId, base: Tick | null, ordinal: number | null): number {
    const slot = this.#free.pop() ?? this.#length;
    this.#length = Math.max(this.#length, slot + 1);
    const bytes = Buffer.from(tokenId.slice(2), "hex");
    for (const [at, byte] of bytes.entries()) this.#ids.set(slot * idBytes + at, byte);
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

  /** Where the market of a token is in the columns; -1 while that is not known. */
  ordinalOf(slot: number): number {
    return this.#ordinals.get(slot) - 1;
  }

  setOrdinal(slot: number, ordinal: number): void {
    this.#ordinals.set(slot, ordinal + 1);
  }

  baseOf(slot: number): Tick | null {
    const seq = this.#baseSeqs.get(slot) as Seq;
    if (seq === 0) return null;
    const price = this.#basePrices.get(slot);
    if (!Number.isNaN(price)) return { seq, price: BigInt(price) };
    return this.#largeBases.get(this.tokenIdAt(slot)) ?? null;
  }

  setBase(slot: number, base: Tick | null): void {
    const price = Number(base?.price ?? 0n);
    const isSafe = Number.isSafeInteger(price);
    this.#baseSeqs.set(slot, base?.seq ?? 0);
    this.#basePrices.set(slot, isSafe ? price : Number.NaN);
    if (!isSafe && base !== null) {
      this.#largeBases.set(this.tokenIdAt(slot), { seq: base.seq, price: base.price });
    }
  }
}

const tickCodec: Codec<Tick> = {
  encode: ({ seq, price }) => `${seq},${price}`,
  decode: (text) => {
    const [seq, price] = text.split(",");
    return { seq: Number(seq) as Seq, price: BigInt(price ?? 0) };
  },
};
