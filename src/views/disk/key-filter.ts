import type { Column } from "./column.ts";

/** All bits of a key are in one block: a line of the processor's cache. */
const blockWords = 16;
const blockBits = 512;
/** 12 bits a key, of which 6 are set: 1 in 200 of the keys that were never added looks like one that was. */
const keysPerBlock = 42;
const firstBlocks = 64;
/** Each layer is so many times as large as the one before. */
const growth = 4;
const keyBytesMax = 32;

/** The key that was asked for last, as words, and which bits are its own. */
const keyBytes = Buffer.from(new ArrayBuffer(keyBytesMax));
const keyWords = new Uint32Array(keyBytes.buffer);
const ownBits = new Int32Array(6);

/**
 * Reports from memory of nearly all keys that were never added that they were not: most of what is asked
 * of a new market is not there, and looking for it in a file costs some microseconds each time. When a
 * layer of bits is full, a larger one is begun, so that nothing is ever made again of all keys.
 */
export class KeyFilter {
  /** A block that begins with how many keys there are, then the layers. */
  readonly #bits: Column<"u32">;

  constructor(bits: Column<"u32">) {
    this.#bits = bits;
  }

  /** Whether a key, `0x` hex of up to 32 bytes, may have been added. */
  mayHave(key: string): boolean {
    return this.#mayHave(placeOf(key));
  }

  add(key: string): void {
    const place = placeOf(key);
    if (this.#mayHave(place)) return;
    const count = this.#bits.get(0);
    let [from, blocks, full] = [blockWords, firstBlocks, firstBlocks * keysPerBlock];
    while (full <= count) {
      from += blocks * blockWords;
      blocks *= growth;
      full += blocks * keysPerBlock;
    }
    const start = from + (place & (blocks - 1)) * blockWords;
    this.#bits.reserve(from + blocks * blockWords);
    for (const bit of ownBits) {
      const at = start + (bit >>> 5);
      this.#bits.set(at, this.#bits.get(at) | (1 << (bit & 31)));
    }
    this.#bits.set(0, count + 1);
  }

  #mayHave(place: number): boolean {
    const { values } = this.#bits;
    let blocks = firstBlocks;
    for (let from = blockWords; from < values.length; from += (blocks * blockWords) / growth) {
      if (hasOwnBits(values, from + (place & (blocks - 1)) * blockWords)) return true;
      blocks *= growth;
    }
    return false;
  }
}

/** In which block a key is, of however many; its bits there are `ownBits`. */
function placeOf(key: string): number {
  keyWords.fill(0);
  keyBytes.write(key.slice(2), "hex");
  let [place, bits] = [0x9e3779b9, 0x7f4a7c15];
  for (const word of keyWords) {
    place = Math.imul(place ^ word, 0x85ebca6b);
    place ^= place >>> 13;
    bits = Math.imul(bits ^ place ^ (word >>> 16), 0xc2b2ae35);
    bits ^= bits >>> 15;
  }
  const more = Math.imul(bits ^ (place >>> 7), 0x27d4eb2f);
  for (let i = 0; i < 3; i += 1) {
    ownBits[i] = (bits >>> (9 * i)) & (blockBits - 1);
    ownBits[i + 3] = (more >>> (9 * i + 4)) & (blockBits - 1);
  }
  return place ^ (place >>> 16);
}

/** Beyond the end nothing is set. */
function hasOwnBits(values: Uint32Array, start: number): boolean {
  for (const bit of ownBits) {
    if (((values[start + (bit >>> 5)] ?? 0) & (1 << (bit & 31))) === 0) return false;
  }
  return true;
}
