/**
 * Small numbers for tokens, their slots. A slot stays a token's until it is given back, and then goes to
 * another one. Tokens are found by their bytes, so that a start takes over a hundred thousand of them without making
 * a string of each.
 */
import type { TokenId } from "../../base/ids.ts";
import { Column } from "../disk/column.ts";
import { MemoryStateStore, type StateStore } from "../disk/state-store.ts";

/** Words of 4 bytes that a token id has. */
export const tokenIdWords = 8;
const idBytes = 32;
const placesMin = 1024;

/** The id that is looked for, as words. */
const wantedBytes = Buffer.from(new ArrayBuffer(idBytes));
const wanted = new Uint32Array(wantedBytes.buffer);

export class TokenSlots {
  #ids: Column<"u32">;
  /** 1 where a slot is taken. */
  #taken: Column<"u8">;
  #free: number[] = [];
  #length = 0;
  #count = 0;
  /** Slot plus 1 by hash, open addressing; made again at start. */
  #places = new Int32Array(placesMin);

  constructor(stateStore: StateStore, name: string) {
    this.#ids = stateStore.column(`${name}.ids`, "u32");
    this.#taken = stateStore.column(`${name}.taken`, "u8");
    this.#length = this.#taken.values.lastIndexOf(1) + 1;
    for (let slot = this.#length - 1; slot >= 0; slot -= 1) {
      if (this.isTaken(slot)) this.#count += 1;
      else this.#free.push(slot);
    }
    this.#rehash();
  }

  /** Slots are below it. */
  get length(): number {
    return this.#length;
  }

  isTaken(slot: number): boolean {
    return this.#taken.get(slot) === 1;
  }

  /** The slot of a token; -1 when it has none. */
  find(tokenId: TokenId): number {
    wantedBytes.write(tokenId.slice(2), "hex");
    return this.findAt(wanted, 0);
  }

  /** The same of the token whose bytes stand in words from a place on. */
  findAt(words: Uint32Array, at: number): number {
    return (this.#places[this.#placeOf(words, at)] ?? 0) - 1;
  }

  /** The slots of the tokens whose bytes follow each other in the words; -1 for those without. */
  findAll(words: Uint32Array): Int32Array {
    const slots = new Int32Array(words.length / tokenIdWords);
    for (let i = 0; i < slots.length; i += 1) {
      slots[i] = this.findAt(words, i * tokenIdWords);
    }
    return slots;
  }

  /** Gives a slot to a token that has none. */
  add(tokenId: TokenId): number {
    wantedBytes.write(tokenId.slice(2), "hex");
    return this.addAt(wanted, 0);
  }

  /** The same for the token whose bytes stand in words from a place on. */
  addAt(words: Uint32Array, at: number): number {
    if ((this.#count + 1) * 2 > this.#places.length) this.#rehash();
    const slot = this.#free.pop() ?? this.#length;
    this.#length = Math.max(this.#length, slot + 1);
    this.#count += 1;
    for (let i = 0; i < tokenIdWords; i += 1) {
      this.#ids.set(slot * tokenIdWords + i, words[at + i] ?? 0);
    }
    this.#taken.set(slot, 1);
    this.#places[this.#placeOf(words, at)] = slot + 1;
    return slot;
  }

  /** Takes a slot back. */
  remove(slot: number): void {
    const hole = this.#placeOf(this.#ids.values, slot * tokenIdWords);
    this.#places[hole] = 0;
    this.#taken.set(slot, 0);
    this.#free.push(slot);
    this.#count -= 1;
    this.#closeUp(hole);
  }

  tokenIdAt(slot: number): TokenId {
    const digits = Buffer.from(this.#ids.values.buffer, slot * idBytes, idBytes).toString("hex");
    return `0x${digits}` as TokenId;
  }

  /** The bytes of the tokens of some slots, one behind the other. */
  wordsOf(slots: readonly number[]): Uint32Array {
    const ids = this.#ids.values;
    const words = new Uint32Array(slots.length * tokenIdWords);
    for (const [i, slot] of slots.entries()) {
      const start = slot * tokenIdWords;
      words.set(ids.subarray(start, start + tokenIdWords), i * tokenIdWords);
    }
    return words;
  }

  /** The same slots as they are now, whatever becomes of these. */
  copy(): TokenSlots {
    const copy = new TokenSlots(new MemoryStateStore(), "copy");
    copy.#ids = new Column("u32", this.#ids.values.buffer.slice(0));
    copy.#taken = new Column("u8", this.#taken.values.buffer.slice(0));
    copy.#free = [...this.#free];
    copy.#places = this.#places.slice();
    copy.#length = this.#length;
    copy.#count = this.#count;
    return copy;
  }

  /** Puts those behind a hole where they are found again: a search ends at the first empty place. */
  #closeUp(hole: number): void {
    const mask = this.#places.length - 1;
    let at = (hole + 1) & mask;
    for (;;) {
      const known = this.#places[at] ?? 0;
      if (known === 0) return;
      this.#places[at] = 0;
      this.#places[this.#placeOf(this.#ids.values, (known - 1) * tokenIdWords)] = known;
      at = (at + 1) & mask;
    }
  }

  /** The place of a token: its own, or the empty one where it would go. */
  #placeOf(words: Uint32Array, at: number): number {
    const places = this.#places;
    const ids = this.#ids.values;
    const mask = places.length - 1;
    let place = hashOf(words, at) & mask;
    for (;;) {
      const known = places[place] ?? 0;
      if (known === 0) return place;
      const id = (known - 1) * tokenIdWords;
      let same = 0;
      while (same < tokenIdWords && ids[id + same] === words[at + same]) same += 1;
      if (same === tokenIdWords) return place;
      place = (place + 1) & mask;
    }
  }

  #rehash(): void {
    let places = placesMin;
    while (places < this.#count * 4) places *= 2;
    this.#places = new Int32Array(places);
    const ids = this.#ids.values;
    for (let slot = 0; slot < this.#length; slot += 1) {
      if (this.isTaken(slot)) this.#places[this.#placeOf(ids, slot * tokenIdWords)] = slot + 1;
    }
  }
}

/**
 * Ids are hashes, all of them or in the middle: a few words distinguishes nearly all. In the last one of
 * generation 3 are the index and the outcome.
 */
function hashOf(words: Uint32Array, at: number): number {
  const first = (words[at] ?? 0) ^ (words[at + 1] ?? 0) ^ (words[at + 2] ?? 0);
  const hash = Math.imul(first ^ Math.imul(words[at + 7] ?? 0, 0x85ebca6b), 0x9e3779b1);
  return (hash ^ (hash >>> 15)) >>> 0;
}
