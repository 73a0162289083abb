/**
 * Small numbers for tokens, their slots. A slot stays a token's until it is given back, and then goes to
 * another one. Tokens are found by their bytes, so that a start takes over a hundred thousand of them without making
 * a string of each.
 */
import type { TokenId } from "../base/ids.ts";
import type { Column } from "./column.ts";
import type { Depot } from "./depot.ts";

/** Words of 4 bytes that a token id has. */
export const tokenIdWords = 8;
const idBytes = 32;
const placesMin = 1024;

/** The id that is looked for, as words. */
const wantedBytes = Buffer.from(new ArrayBuffer(idBytes));
const wanted = new Uint32Array(wantedBytes.buffer);

export class TokenSlots {
  readonly #ids: Column<"u32">;
  /** 1 where a slot is taken. */
  readonly #taken: Column<"u8">;
  readonly #free: number[] = [];
  #length = 0;
  #count = 0;
  /** Slot plus 1 by hash, open addressing; made again at start. */
  #places = new Int32Array(placesMin);

  constructor(depot: Depot, name: string) {
    this.#ids = depot.column(`${name}.ids`, "u32");
    this.#taken = depot.column(`${name}.taken`, "u8");
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
    return this.findWords(wanted, 0);
  }

  /** The same for the token whose bytes are the words from `at` on. */
  findWords(words: Uint32Array, at: number): number {
    return (this.#places[this.#placeOf(words, at)] ?? 0) - 1;
  }

  /** Gives a slot to a token that has none. */
  add(tokenId: TokenId): number {
    if ((this.#count + 1) * 2 > this.#places.length) this.#rehash();
    wantedBytes.write(tokenId.slice(2), "hex");
    const slot = this.#free.pop() ?? this.#length;
    this.#length = Math.max(this.#length, slot + 1);
    this.#count += 1;
    for (const [at, word] of wanted.entries()) this.#ids.set(slot * tokenIdWords + at, word);
    this.#taken.set(slot, 1);
    this.#places[this.#placeOf(wanted, 0)] = slot + 1;
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
    const mask = places.length - 1;
    let place = hashOf(words, at) & mask;
    for (;;) {
      const known = places[place] ?? 0;
      if (known === 0 || this.#isToken(known - 1, words, at)) return place;
      place = (place + 1) & mask;
    }
  }

  #isToken(slot: number, words: Uint32Array, at: number): boolean {
    const ids = this.#ids.values;
    const start = slot * tokenIdWords;
    for (let i = 0; i < tokenIdWords; i += 1) if (ids[start + i] !== words[at + i]) return false;
    return true;
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

/** Ids are hashes, or have one within: any mixture of all words will do. */
function hashOf(words: Uint32Array, at: number): number {
  let hash = 0;
  for (let i = at; i < at + tokenIdWords; i += 1) {
    hash = Math.imul(hash ^ (words[i] ?? 0), 0x85ebca6b);
    hash ^= hash >>> 13;
  }
  return hash >>> 0;
}
