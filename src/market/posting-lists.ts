/**
 * For each term the documents that have it, and in which fields: about a byte each. A list is a
 * chain of slices in one block of bytes, each twice as long as the one before, which ends in the
 * place of the next. A posting is the distance to the document before and a bit a field, as a
 * variable-length integer.
 */
import type { Column } from "./column.ts";
import type { Depot } from "./depot.ts";

const pointerBytes = 4;
const firstSliceBytes = 8;
/** Slices of 4 KiB waste little at the end of the longest lists. */
const levelMax = 9;

/** Where what matched is written down: a score per owner, the best so far. */
export type Scoring = {
  /** Score by the bits of the fields a document has the term in. */
  readonly weights: Uint16Array;
  /** Owner plus 1 by document; 0 for documents that are out of date. */
  readonly owners: Int32Array;
  readonly scores: Uint16Array;
};

export class PostingLists {
  readonly #fieldBits: number;
  readonly #bytes: Column<"u8">;
  readonly #heads: Column<"i32">;
  /** Where the next byte goes, where the slice ends, how long it is, and the last document. */
  readonly #tails: Column<"i32">;
  readonly #ends: Column<"i32">;
  readonly #levels: Column<"u8">;
  readonly #lasts: Column<"i32">;
  readonly #used: Column<"f64">;

  constructor(depot: Depot, name: string, fieldBits: number) {
    this.#fieldBits = fieldBits;
    this.#bytes = depot.column(`${name}.postings`, "u8");
    this.#heads = depot.column(`${name}.heads`, "i32");
    this.#tails = depot.column(`${name}.tails`, "i32");
    this.#ends = depot.column(`${name}.ends`, "i32");
    this.#levels = depot.column(`${name}.levels`, "u8");
    this.#lasts = depot.column(`${name}.lasts`, "i32");
    this.#used = depot.column(`${name}.used`, "f64");
  }

  /** Adds a document to the list of a term; documents come in rising order, each once a term. */
  add(term: number, document: number, fields: number): void {
    if (this.#ends.get(term) === 0) this.#begin(term);
    let value = ((document - this.#lasts.get(term)) << this.#fieldBits) | fields;
    this.#lasts.set(term, document);
    for (; value > 127; value >>>= 7) this.#push(term, (value & 127) | 128);
    this.#push(term, value);
  }

  /** How many bytes the list of a term has: about as many as documents. */
  bytesOf(term: number): number {
    const bytes = this.#bytes.values;
    const last = this.#ends.get(term);
    if (last === 0) return 0;
    let start = this.#heads.get(term);
    let level = 0;
    let sum = 0;
    for (;;) {
      const end = start + sliceBytes(level) - pointerBytes;
      if (end === last) return sum + this.#tails.get(term) - start;
      sum += end - start;
      start = readPointer(bytes, end);
      level = Math.min(level + 1, levelMax);
    }
  }

  /** Writes the score of a term to the owners of all documents that have it. */
  score(term: number, { weights, owners, scores }: Scoring): void {
    const bytes = this.#bytes.values;
    const bits = this.#fieldBits;
    const mask = (1 << bits) - 1;
    const tail = this.#tails.get(term);
    let at = this.#heads.get(term);
    let level = 0;
    let end = at + sliceBytes(level) - pointerBytes;
    let document = 0;
    while (at !== tail) {
      let value = 0;
      let shift = 0;
      let byte = 128;
      while (byte > 127) {
        if (at === end) {
          at = readPointer(bytes, end);
          level = Math.min(level + 1, levelMax);
          end = at + sliceBytes(level) - pointerBytes;
        }
        byte = bytes[at] ?? 0;
        at += 1;
        value |= (byte & 127) << shift;
        shift += 7;
      }
      document += value >>> bits;
      const owner = (owners[document] ?? 0) - 1;
      const weight = weights[value & mask] ?? 0;
      if (owner >= 0 && weight > (scores[owner] ?? 0)) scores[owner] = weight;
    }
  }

  #begin(term: number): void {
    const start = this.#allocate(0);
    this.#heads.set(term, start);
    this.#tails.set(term, start);
    this.#ends.set(term, start + sliceBytes(0) - pointerBytes);
  }

  #push(term: number, byte: number): void {
    let at = this.#tails.get(term);
    const end = this.#ends.get(term);
    if (at === end) {
      const level = Math.min(this.#levels.get(term) + 1, levelMax);
      at = this.#allocate(level);
      for (let i = 0; i < pointerBytes; i += 1) this.#bytes.set(end + i, (at >>> (8 * i)) & 255);
      this.#levels.set(term, level);
      this.#ends.set(term, at + sliceBytes(level) - pointerBytes);
    }
    this.#bytes.set(at, byte);
    this.#tails.set(term, at + 1);
  }

  #allocate(level: number): number {
    const start = this.#used.get(0);
    this.#used.set(0, start + sliceBytes(level));
    this.#bytes.reserve(start + sliceBytes(level));
    return start;
  }
}

function sliceBytes(level: number): number {
  return firstSliceBytes << level;
}

function readPointer(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
  return low | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
}
