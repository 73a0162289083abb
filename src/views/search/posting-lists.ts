/**
 * For each term, the documents that have it and in which fields. A posting is the distance to the
 * document before and one bit a field, as a variable-length integer of about a byte. A list is a chain
 * of slices in one block of bytes. Each slice is twice as long as the one before, and ends with a
 * pointer to the next. The longest slices begin with the document before their first posting, so that
 * a search in a few documents can skip slices.
 */

import { inChunks } from "../disk/chunked-loop.ts";
import type { Column } from "../disk/column.ts";
import type { StateStore } from "../disk/state-store.ts";

const pointerBytes = 4;
const firstSliceBytes = 8;
/** The longest slices have 4 KiB: their unused ends are small in lists this long. */
const levelMax = 9;
const baseBytes = 4;
/** About how many postings a slice of 4 KiB has. They are skipped together. */
export const skippedPostings = 4096;
/** Documents of a group are next to each other: 64, few compared with those of a long slice. */
const groupShift = 6;

/** How postings are scored: `scores` has the best score so far of each owner. */
export type Scoring = {
  /** The score by the fields of a posting, one bit a field. */
  readonly weights: Uint8Array;
  /** Owner plus 1, by document; 0 for outdated documents. */
  readonly owners: Int32Array;
  readonly scores: Uint8Array;
  /** By group of documents, 1 if one of them needs a score; others can be skipped. `null` if all need a score. */
  readonly groups: Uint8Array | null;
};

/** How far a list is read. It is read slice by slice. */
type Reading = {
  readonly bytes: Uint8Array;
  readonly bits: number;
  at: number;
  /** Where the current slice ends. */
  stop: number;
  /** The document of the last posting. */
  document: number;
  /** The bits read so far of the next posting, which can continue in the next slice. */
  value: number;
  shift: number;
};

const noPosting = { document: 0, value: 0, shift: 0 };

export class PostingLists {
  readonly #fieldBits: number;
  readonly #bytes: Column<"u8">;
  /** By term: where its first slice begins. */
  readonly #heads: Column<"i32">;
  /** By term: where its next byte goes. */
  readonly #tails: Column<"i32">;
  /** By term: the pointer at the end of its last slice; 0 without postings. */
  readonly #ends: Column<"i32">;
  /** By term: the level of its last slice, see `sliceBytes`. */
  readonly #levels: Column<"u8">;
  /** By term: its last document. */
  readonly #lasts: Column<"i32">;
  readonly #counts: Column<"i32">;
  readonly #used: Column<"f64">;

  constructor(stateStore: StateStore, name: string, fieldBits: number) {
    this.#fieldBits = fieldBits;
    this.#bytes = stateStore.column(`${name}.postings`, "u8");
    this.#heads = stateStore.column(`${name}.heads`, "i32");
    this.#tails = stateStore.column(`${name}.tails`, "i32");
    this.#ends = stateStore.column(`${name}.ends`, "i32");
    this.#levels = stateStore.column(`${name}.levels`, "u8");
    this.#lasts = stateStore.column(`${name}.lasts`, "i32");
    this.#counts = stateStore.column(`${name}.counts`, "i32");
    this.#used = stateStore.column(`${name}.used`, "f64");
  }

  /** Adds a document to the list of a term. Documents come in rising order, each once for a term. */
  add(term: number, document: number, fields: number): void {
    if (this.#ends.get(term) === 0) this.#begin(term);
    const before = this.#lasts.get(term);
    let value = ((document - before) << this.#fieldBits) | fields;
    this.#lasts.set(term, document);
    this.#counts.set(term, this.#counts.get(term) + 1);
    // `base` is the last document before the first whole posting of a new slice: this one if it is split.
    for (let base = before; ; base = document) {
      this.#push(term, value > 127 ? (value & 127) | 128 : value, base);
      if (value <= 127) return;
      value >>>= 7;
    }
  }

  countAll(terms: Int32Array): number {
    const counts = this.#counts.values;
    return inChunks(terms.length, ({ from, to }) => {
      let sum = 0;
      for (let at = from; at < to; at += 1) sum += counts[terms[at] ?? 0] ?? 0;
      return sum;
    });
  }

  /** Raises the scores of the owners of all documents that have one of the terms. */
  score(terms: Int32Array, scoring: Scoring): void {
    const bytes = this.#bytes.values;
    const reading = { bytes, bits: this.#fieldBits, at: 0, stop: 0, ...noPosting };
    inChunks(terms.length, ({ from, to }) => {
      for (let at = from; at < to; at += 1) this.#scoreTerm(terms[at] ?? 0, reading, scoring);
      return to - from;
    });
  }

  /** Scores the list of a term. Skips the long slices that have no document in a group that needs scores. */
  #scoreTerm(term: number, reading: Reading, scoring: Scoring): void {
    const { bytes } = reading;
    const [tail, last] = [this.#tails.get(term), this.#ends.get(term)];
    reading.document = 0;
    reading.at = this.#heads.get(term);
    let level = 0;
    let end = reading.at + sliceBytes(level) - pointerBytes;
    while (end !== last) {
      level = Math.min(level + 1, levelMax);
      const next = readInteger(bytes, end);
      const at = next + getHead(level);
      const base = level === levelMax ? readInteger(bytes, next) : null;
      if (base !== null && !needsScores(scoring.groups, reading.document, base)) {
        // The end of a posting that continues in the next slice is skipped too: its document is not above `base`.
        reading.at = (bytes[end - 1] ?? 0) > 127 ? endOfPosting(bytes, at) : at;
        reading.document = base;
        reading.value = 0;
        reading.shift = 0;
      } else {
        reading.stop = end;
        scoreSlice(reading, scoring);
        reading.at = at;
      }
      end = next + sliceBytes(level) - pointerBytes;
    }
    reading.stop = tail;
    scoreSlice(reading, scoring);
  }

  /** Calls `visit` with each document of a term, in rising order. */
  forEach(term: number, visit: (document: number) => void): void {
    const bytes = this.#bytes.values;
    const [tail, last] = [this.#tails.get(term), this.#ends.get(term)];
    let [at, level, document, value, shift] = [this.#heads.get(term), 0, 0, 0, 0];
    for (let end = at + sliceBytes(0) - pointerBytes; at !== tail; ) {
      if (at === end && end !== last) {
        level = Math.min(level + 1, levelMax);
        const next = readInteger(bytes, end);
        at = next + getHead(level);
        end = next + sliceBytes(level) - pointerBytes;
        continue;
      }
      const byte = bytes[at] ?? 0;
      at += 1;
      value |= (byte & 127) << shift;
      shift += 7;
      if (byte > 127) continue;
      document += value >>> this.#fieldBits;
      visit(document);
      [value, shift] = [0, 0];
    }
  }

  #begin(term: number): void {
    const start = this.#allocate(0);
    this.#heads.set(term, start);
    this.#tails.set(term, start);
    this.#ends.set(term, start + sliceBytes(0) - pointerBytes);
  }

  #push(term: number, byte: number, base: number): void {
    let at = this.#tails.get(term);
    const end = this.#ends.get(term);
    if (at === end) {
      const level = Math.min(this.#levels.get(term) + 1, levelMax);
      at = this.#allocate(level);
      this.#setInteger(end, at);
      this.#levels.set(term, level);
      this.#ends.set(term, at + sliceBytes(level) - pointerBytes);
      if (level === levelMax) this.#setInteger(at, base);
      at += getHead(level);
    }
    this.#bytes.set(at, byte);
    this.#tails.set(term, at + 1);
  }

  #setInteger(at: number, value: number): void {
    for (let i = 0; i < pointerBytes; i += 1) this.#bytes.set(at + i, (value >>> (8 * i)) & 255);
  }

  #allocate(level: number): number {
    const start = this.#used.get(0);
    this.#used.set(0, start + sliceBytes(level));
    this.#bytes.reserve(start + sliceBytes(level));
    return start;
  }
}

/** Reads a slice and raises scores. This loop dominates the cost of a search, so it works on numbers only. */
function scoreSlice(reading: Reading, { weights, owners, scores }: Scoring): void {
  const { bytes, bits, stop } = reading;
  let { at, document, value, shift } = reading;
  const mask = (1 << bits) - 1;
  // `| 0` shows V8 that these are 32-bit integers, which makes the loop twice as fast.
  for (; at < stop; at = (at + 1) | 0) {
    const byte = bytes[at] ?? 0;
    value |= (byte & 127) << shift;
    if (byte > 127) {
      shift = (shift + 7) | 0;
      continue;
    }
    document = (document + (value >>> bits)) | 0;
    const owner = owners[document] ?? 0;
    const weight = weights[value & mask] ?? 0;
    if (owner !== 0 && weight > (scores[owner - 1] ?? 0)) scores[owner - 1] = weight;
    value = 0;
    shift = 0;
  }
  reading.document = document;
  reading.value = value;
  reading.shift = shift;
}

/** The group of a document. */
export function toGroup(document: number): number {
  return document >>> groupShift;
}

/** Whether a document above `after`, up to and including `through`, can need a score. */
function needsScores(groups: Uint8Array | null, after: number, through: number): boolean {
  if (groups === null) return true;
  const marked = groups.indexOf(1, toGroup(after));
  return marked !== -1 && marked <= toGroup(through);
}

function sliceBytes(level: number): number {
  return firstSliceBytes << level;
}

function getHead(level: number): number {
  return level === levelMax ? baseBytes : 0;
}

/** Returns the end of the posting whose bytes continue at `from`. */
function endOfPosting(bytes: Uint8Array, from: number): number {
  let at = from;
  while ((bytes[at] ?? 0) > 127) at += 1;
  return at + 1;
}

function readInteger(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
  return low | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
}
