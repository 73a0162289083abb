import { assert } from "../../base/assert.ts";
import { storeLimits } from "../../base/config/limits.ts";
import type { TokenId } from "../../base/ids.ts";

const words = 8;
/** A multiplier that is odd and has no pattern in its bits. It spreads ids that differ in few bits over all slots. */
const spread = 0x9e3779b1;

/**
 * A string table that turns the bytes of token ids into text. Tokens recur, and making a string costs several
 * times as much as finding it. Maps keyed by token are also faster when the string is the same object.
 * Each id maps to one slot; a newer id with the same slot replaces the older one.
 */
export class TokenTexts {
  readonly #texts: (TokenId | undefined)[];
  readonly #words: Int32Array;
  readonly #shift: number;

  /** `slots` is the number of slots, a power of two. */
  constructor(slots: number = storeLimits.tokenTextSlots) {
    assert(Number.isInteger(Math.log2(slots)), "slots are a power of two");
    this.#texts = Array.from({ length: slots }, () => undefined);
    this.#words = new Int32Array(slots * words);
    this.#shift = 32 - Math.log2(slots);
  }

  /** Returns the token whose 32 bytes begin at `at`. */
  at(view: DataView, at: number): TokenId {
    const slot = mixToken(view, at) >>> this.#shift;
    const cached = this.#texts[slot];
    if (cached !== undefined && this.#isAt(slot, view, at)) return cached;
    const bytes = Buffer.from(view.buffer, view.byteOffset + at, 32);
    const text = `0x${bytes.toString("hex")}` as TokenId;
    for (let word = 0; word < words; word += 1) {
      this.#words[slot * words + word] = view.getInt32(at + word * 4, true);
    }
    this.#texts[slot] = text;
    return text;
  }

  #isAt(slot: number, view: DataView, at: number): boolean {
    for (let word = 0; word < words; word += 1) {
      if (this.#words[slot * words + word] !== view.getInt32(at + word * 4, true)) return false;
    }
    return true;
  }
}

/** Hashes the 32 bytes of a token id to 32 bits. */
function mixToken(view: DataView, at: number): number {
  let mixed = 0;
  for (let word = 0; word < words; word += 1) {
    mixed = Math.imul(mixed ^ view.getInt32(at + word * 4, true), spread);
    mixed ^= mixed >>> 15;
  }
  return mixed;
}
