/**
 * The tokens that were traded within a day, by slot: which market each is of, and its last price before the
 * trades that are held. That price may be as old as the chain, and finding a market costs two look-ups,
 * so a copy of both is kept for a start to go on from.
 */
import type { Seq, TokenId } from "../../base/ids.ts";
import type { Tick } from "../../market/minute-candle.ts";
import { Column } from "../disk/column.ts";
import type { Codec, StateStore, StateTable } from "../disk/state-store.ts";
import { TokenSlots } from "./token-slots.ts";

export class DayTokens {
  readonly slots: TokenSlots;
  /** Where its market stands in the columns, plus 1; 0 while that is not known. */
  readonly #ordinals: Column<"i32">;
  /** 0 without a price; a price that is no safe integer is `NaN` here, and on the table. */
  readonly #baseSeqs: Column<"f64">;
  readonly #basePrices: Column<"f64">;
  readonly #largeBases: StateTable<TokenId, Tick>;
  /** The slot of a token of each market, and by slot the next one of the same market, plus 1. */
  readonly #firstOf = new Column("i32");
  readonly #nextOf = new Column("i32");
  /** 1 where a price before is only looked up when it is asked for, and who then reports it. */
  readonly #isAwaited = new Column("u8");
  #askBase: (tokenId: TokenId) => void = () => {};
  /** Tokens that have got a slot and whose market was not looked for since. */
  #begun: number[] = [];
  /** Tokens whose sums have changed, each once, and markets of those that came or went. */
  #touched: number[] = [];
  readonly #isTouched = new Column("u8");
  #changed = new Set<number>();

  constructor(stateStore: StateStore) {
    this.slots = new TokenSlots(stateStore, "day");
    this.#ordinals = stateStore.column("day.ordinals", "i32");
    this.#baseSeqs = stateStore.column("day.base_seqs", "f64");
    this.#basePrices = stateStore.column("day.base_prices", "f64");
    this.#largeBases = stateStore.table("day_bases", tickCodec);
    for (let slot = 0; slot < this.slots.length; slot += 1) {
      const ordinal = this.#ordinals.get(slot) - 1;
      if (ordinal >= 0 && this.slots.isTaken(slot)) this.#join(slot, ordinal);
    }
  }

  /** Gives a slot to a token, with its last price before. */
  begin(tokenId: TokenId, base: Tick | null): number {
    const slot = this.slots.add(tokenId);
    this.setBase(slot, base);
    this.#begun.push(slot);
    return slot;
  }

  /** The same for the token whose bytes stand in words, with a price before that is sent later. */
  beginAt(words: Uint32Array, at: number): number {
    const slot = this.slots.addAt(words, at);
    this.setBase(slot, null);
    this.#isAwaited.set(slot, 1);
    this.#begun.push(slot);
    return slot;
  }

  /** Who is asked for a price before that is to be sent, and reports it immediately. */
  awaitBases(ask: (tokenId: TokenId) => void): void {
    this.#askBase = ask;
  }

  /** Reports the price before of a token, if that is awaited. */
  reportBase(tokenId: TokenId, base: Tick | null): void {
    const slot = this.slots.find(tokenId);
    if (slot !== -1 && this.#isAwaited.get(slot) === 1) this.setBase(slot, base);
  }

  /** Takes the slot of a token back. */
  end(slot: number): void {
    this.#leave(slot);
    this.slots.remove(slot);
  }

  /** Slots of tokens that have begun since this was last asked, and whose market is not known. */
  takeBegun(): readonly number[] {
    const begun = this.#begun;
    this.#begun = [];
    return begun.filter((slot) => this.slots.isTaken(slot) && this.#ordinals.get(slot) === 0);
  }

  /** The markets of tokens that were sent by `touch`, or have come or gone, since last asked. */
  takeChanged(): ReadonlySet<number> {
    const changed = this.#changed;
    for (const slot of this.#touched) {
      this.#isTouched.set(slot, 0);
      const ordinal = this.#ordinals.get(slot) - 1;
      if (ordinal >= 0) changed.add(ordinal);
    }
    this.#touched = [];
    this.#changed = new Set();
    return changed;
  }

  /** Says that the sums of a token have changed. */
  touch(slot: number): void {
    if (this.#isTouched.get(slot) === 1) return;
    this.#isTouched.set(slot, 1);
    this.#touched.push(slot);
  }

  /** Says which market a token is of, by its ordinal; nothing for tokens without a slot. */
  place(tokenId: TokenId, ordinal: number): void {
    const slot = this.slots.find(tokenId);
    if (slot !== -1) this.placeAt(slot, ordinal);
  }

  /** The same for the token in a slot. */
  placeAt(slot: number, ordinal: number): void {
    if (this.#ordinals.get(slot) === ordinal + 1) return;
    this.#leave(slot);
    this.#join(slot, ordinal);
  }

  /** Forgets the markets from an ordinal on: a fork has taken them back. */
  forgetMarketsFrom(ordinal: number): void {
    for (let slot = 0; slot < this.slots.length; slot += 1) {
      if (this.#ordinals.get(slot) > ordinal) this.#leave(slot);
    }
  }

  /** Where the market of a token stands in the columns; `null` while that is not known. */
  ordinalOf(slot: number): number | null {
    const ordinal = this.#ordinals.get(slot) - 1;
    return ordinal < 0 ? null : ordinal;
  }

  /** The slots of the tokens of a market. */
  *slotsOf(ordinal: number): Generator<number> {
    let slot = this.#firstOf.get(ordinal) - 1;
    for (; slot !== -1; slot = this.#nextOf.get(slot) - 1) yield slot;
  }

  baseOf(slot: number): Tick | null {
    if (this.#isAwaited.get(slot) === 1) this.#askBase(this.slots.tokenIdAt(slot));
    const seq = this.#baseSeqs.get(slot) as Seq;
    if (seq === 0) return null;
    const price = this.#basePrices.get(slot);
    if (!Number.isNaN(price)) return { seq, price: BigInt(price) };
    return this.#largeBases.get(this.slots.tokenIdAt(slot)) ?? null;
  }

  setBase(slot: number, base: Tick | null): void {
    this.#isAwaited.set(slot, 0);
    const price = Number(base?.price ?? 0n);
    const isSafe = Number.isSafeInteger(price);
    this.#baseSeqs.set(slot, base?.seq ?? 0);
    this.#basePrices.set(slot, isSafe ? price : Number.NaN);
    if (!isSafe && base !== null) {
      this.#largeBases.set(this.slots.tokenIdAt(slot), { seq: base.seq, price: base.price });
    }
  }

  #join(slot: number, ordinal: number): void {
    // What is so already is not to be saved again.
    if (this.#ordinals.get(slot) !== ordinal + 1) this.#ordinals.set(slot, ordinal + 1);
    this.#nextOf.set(slot, this.#firstOf.get(ordinal));
    this.#firstOf.set(ordinal, slot + 1);
    this.#changed.add(ordinal);
  }

  #leave(slot: number): void {
    const ordinal = this.#ordinals.get(slot) - 1;
    if (ordinal < 0) return;
    this.#ordinals.set(slot, 0);
    this.#changed.add(ordinal);
    const next = this.#nextOf.get(slot);
    const first = this.#firstOf.get(ordinal) - 1;
    if (first === slot) {
      this.#firstOf.set(ordinal, next);
      return;
    }
    let before = first;
    while (this.#nextOf.get(before) !== slot + 1) before = this.#nextOf.get(before) - 1;
    this.#nextOf.set(before, next);
  }
}

const tickCodec: Codec<Tick> = {
  encode: ({ seq, price }) => `${seq},${price}`,
  decode: (text) => {
    const [seq, price] = text.split(",");
    return { seq: Number(seq) as Seq, price: BigInt(price ?? 0) };
  },
};
