/**
 * Small numbers for tokens, their slots. A slot stays a token's until it is given back, and then goes to
 * another one. Tokens are found by their bytes, so that a start takes over a hundred thousand of them without making
 * a string of each.
 */
import type { TokenId } from "../base/ids.ts";
import type { Column } from "./column.ts";
import type { Depot } from "./depot.ts";

/** Words of 4 bytes that a token id has. */
const tokenIdWords = 8;
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
    return (this.#places[this.#placeOf(wanted, 0)] ?? 0) - 1;
  }

  /** The slots of the tokens whose bytes follow each other in the words; -1 for those without. */
  findAll(words: Uint32Array): Int32Array {
    const slots = new Int32Array(words.length / tokenIdWords);
    for (let i = 0; i < slots.length; i += 1) {
      slots[i] = (this.#places[this.#placeOf(words, i * tokenIdWords)] ?? 0) - 1;
    }
    return slots;
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
 * Ids are hashes, all of them or in the middle: a few words tell nearly all apart. In the last one of
 * generation 3 are the index and the outcome.
 */
function hashOf(words: Uint32Array, at: number): number {
  const first = (words[at] ?? 0) ^ (words[at + 1] ?? 0) ^ (words[at + 2] ?? 0);
  const hash = Math.imul(first ^ Math.imul(words[at + 7] ?? 0, 0x85ebca6b), 0x9e3779b1);
  return (hash ^ (hash >>> 15)) >>> 0;
}
