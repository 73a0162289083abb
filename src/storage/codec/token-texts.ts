import { assert } from "../../base/assert.ts";
import { storeLimits } from "../../base/config/limits.ts";
import type { TokenId } from "../../base/ids.ts";

const words = 8;
/** Odd, and without a pattern: spreads ids that differ in few bits over all places. */
const spread = 0x9e3779b1;

/**
 * Token ids as text from their bytes in rows. A token comes again and again, and making its text
 * costs some times what finding it does; maps keyed by it are faster too when it is the same string.
 * Every id has one place, which the newest of those that share it takes.
 */
export class TokenTexts {
  readonly #texts: (TokenId | undefined)[];
  readonly #words: Int32Array;
  readonly #shift: number;

  /** With so many places, a power of two. */
  constructor(places: number = storeLimits.tokenTextPlaces) {
    assert(Number.isInteger(Math.log2(places)), "places are a power of two");
    this.#texts = Array.from({ length: places }, () => undefined);
    this.#words = new Int32Array(places * words);
    this.#shift = 32 - Math.log2(places);
  }

  /** The token whose 32 bytes are at `at`. */
  at(view: DataView, at: number): TokenId {
    const place = mixToken(view, at) >>> this.#shift;
    const known = this.#texts[place];
    if (known !== undefined && this.#isAt(place, view, at)) return known;
    const bytes = Buffer.from(view.buffer, view.byteOffset + at, 32);
    const text = `0x${bytes.toString("hex")}` as TokenId;
    for (let word = 0; word < words; word += 1) {
      this.#words[place * words + word] = view.getInt32(at + word * 4, true);
    }
    this.#texts[place] = text;
    return text;
  }

  #isAt(place: number, view: DataView, at: number): boolean {
    for (let word = 0; word < words; word += 1) {
      if (this.#words[place * words + word] !== view.getInt32(at + word * 4, true)) return false;
    }
    return true;
  }
}

/** 32 bits that follow from all 32 bytes of a token id. */
function mixToken(view: DataView, at: number): number {
  let mixed = 0;
  for (let word = 0; word < words; word += 1) {
    mixed = Math.imul(mixed ^ view.getInt32(at + word * 4, true), spread);
    mixed ^= mixed >>> 15;
  }
  return mixed;
}
