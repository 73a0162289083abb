/**
 * For each term the documents that have it, and in which fields: about a byte each. A list is a
 * chain of slices in one block of bytes, each twice as long as the one before, which ends in the
 * place of the next. A posting is the distance to the document before and a bit a field, as a
 * variable-length integer. The longest slices begin with the document before their first posting,
 * so that a list can be looked through for a few documents without reading all of it.
 */

import { type Chunk, inChunks } from "../disk/chunked-loop.ts";
import type { Column } from "../disk/column.ts";
import type { StateStore } from "../disk/state-store.ts";

const pointerBytes = 4;
const firstSliceBytes = 8;
/** Slices of 4 KiB waste little at the end of the longest lists. */
const levelMax = 9;
const baseBytes = 4;
/** Postings of a slice of the longest lists, about: they are skipped together. */
export const skippedPostings = 4096;
/** Above all documents. */
const neverPassed = 2 ** 31 - 1;

/** Where what matched is written down: a score per owner, the best so far. */
export type Scoring = {
  /** Score by the bits of the fields a document has the term in. */
  readonly weights: Uint8Array;
  /** Owner plus 1 by document; 0 for documents that are out of date. */
  readonly owners: Int32Array;
  readonly scores: Uint8Array;
};

/** Documents that a term is looked for in, and where the score of each is written down: the best so far. */
export type ScoringAmong = {
  readonly weights: Uint8Array;
  /** Rising. */
  readonly documents: Int32Array;
  readonly scores: Uint8Array;
};

/** A list that is being read, slice by slice. */
type Reading = {
  readonly bytes: Uint8Array;
  readonly bits: number;
  at: number;
  /** Where its slice ends. */
  stop: number;
  /** The document of the last posting, and what was read of the next, which may go on in the next slice. */
  document: number;
  value: number;
  shift: number;
};

type ReadingAmong = Reading & {
  /** The place of the first that was not met yet. */
  next: number;
};

const noPosting = { document: 0, value: 0, shift: 0 };

export class PostingLists {
  readonly #fieldBits: number;
  readonly #bytes: Column<"u8">;
  readonly #heads: Column<"i32">;
  /** Where the next byte goes, where the slice ends, how long it is, the last document, and how many there are. */
  readonly #tails: Column<"i32">;
  readonly #ends: Column<"i32">;
  readonly #levels: Column<"u8">;
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

  /** Adds a document to the list of a term; documents come in rising order, each once a term. */
  add(term: number, document: number, fields: number): void {
    if (this.#ends.get(term) === 0) this.#begin(term);
    const before = this.#lasts.get(term);
    let value = ((document - before) << this.#fieldBits) | fields;
    this.#lasts.set(term, document);
    this.#counts.set(term, this.#counts.get(term) + 1);
    // The document before what starts in a slice: before this posting, or this one if it is cut.
    for (let base = before; ; base = document) {
      this.#push(term, value > 127 ? (value & 127) | 128 : value, base);
      if (value <= 127) return;
      value >>>= 7;
    }
  }

  /** How many postings terms have, and how many of them are in lists too short to skip any. */
  countAll(terms: Int32Array): { all: number; short: number } {
    const counts = this.#counts.values;
    let short = 0;
    const all = inChunks(terms.length, ({ from, to }) => {
      let sum = 0;
      for (let at = from; at < to; at += 1) {
        const count = counts[terms[at] ?? 0] ?? 0;
        sum += count;
        if (count < skippedPostings) short += count;
      }
      return sum;
    });
    return { all, short };
  }

  /** Writes the scores of terms to the owners of all documents that have them. */
  score(terms: Int32Array, scoring: Scoring): void {
    inChunks(terms.length, (step) => this.#scoreSome(terms, scoring, step));
  }

  #scoreSome(terms: Int32Array, scoring: Scoring, { from, to }: Chunk): number {
    const [heads, tails, levels] = [this.#heads.values, this.#tails.values, this.#levels.values];
    const [bytes, bits] = [this.#bytes.values, this.#fieldBits];
    const reading = { bytes, bits, at: 0, stop: 0, ...noPosting };
    for (let next = from; next < to; next += 1) {
      const term = terms[next] ?? 0;
      reading.document = 0;
      reading.at = heads[term] ?? 0;
      reading.stop = tails[term] ?? 0;
      if ((levels[term] ?? 0) === 0) scoreSlice(reading, scoring);
      else this.#scoreLong(term, reading, scoring);
    }
    return to - from;
  }

  #scoreLong(term: number, reading: Reading, scoring: Scoring): void {
    const [tail, last] = [this.#tails.get(term), this.#ends.get(term)];
    let level = 0;
    for (let end = reading.at + sliceBytes(level) - pointerBytes; ; ) {
      reading.stop = end === last ? tail : end;
      scoreSlice(reading, scoring);
      if (end === last) return;
      level = Math.min(level + 1, levelMax);
      const next = readInteger(reading.bytes, end);
      reading.at = next + headOf(level);
      end = next + sliceBytes(level) - pointerBytes;
    }
  }

  /** The same for some documents only, passing over the slices that none of them can be in. */
  scoreAmong(term: number, among: ScoringAmong): void {
    const bytes = this.#bytes.values;
    const [tail, last] = [this.#tails.get(term), this.#ends.get(term)];
    if (last === 0 || among.documents.length === 0) return;
    const at = this.#heads.get(term);
    const reading = { bytes, bits: this.#fieldBits, at, stop: 0, ...noPosting, next: 0 };
    let level = 0;
    for (let end = at + sliceBytes(level) - pointerBytes; ; ) {
      const following = end === last ? -1 : readInteger(bytes, end);
      const hasBase = following !== -1 && level >= levelMax - 1;
      const base = hasBase ? readInteger(bytes, following) : neverPassed;
      reading.stop = end === last ? tail : end;
      scoreSliceAmong(reading, among, base);
      if (end === last || reading.next === among.documents.length) return;
      level = Math.min(level + 1, levelMax);
      reading.at = following + headOf(level);
      // What was left of the slice is of documents up to that one, a posting that goes on behind it too.
      if ((among.documents[reading.next] ?? 0) > base) {
        if ((bytes[end - 1] ?? 0) > 127) reading.at = endOfPosting(bytes, reading.at);
        reading.document = base;
        reading.value = 0;
        reading.shift = 0;
      }
      end = following + sliceBytes(level) - pointerBytes;
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
      at += headOf(level);
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

/** Reads a slice and writes the scores: what a search costs is this loop, so it knows nothing but numbers. */
function scoreSlice(reading: Reading, { weights, owners, scores }: Scoring): void {
  const { bytes, bits, stop } = reading;
  let { at, document, value, shift } = reading;
  const mask = (1 << bits) - 1;
  // Integers that are known to be small make it twice as fast.
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

/** The same for some documents, until all were met or the next is not in the slice (above `base`). */
function scoreSliceAmong(
  reading: ReadingAmong,
  { weights, documents, scores }: ScoringAmong,
  base: number,
): void {
  const { bytes, bits, stop } = reading;
  let { at, document, value, shift, next } = reading;
  const mask = (1 << bits) - 1;
  let wanted = documents[next] ?? 0;
  for (; at < stop && wanted <= base; at = (at + 1) | 0) {
    const byte = bytes[at] ?? 0;
    value |= (byte & 127) << shift;
    if (byte > 127) {
      shift = (shift + 7) | 0;
      continue;
    }
    document = (document + (value >>> bits)) | 0;
    if (document >= wanted) {
      next = placeFrom(documents, next, document);
      if (next === documents.length) break;
      wanted = documents[next] ?? 0;
      const weight = weights[value & mask] ?? 0;
      if (wanted === document && weight > (scores[next] ?? 0)) scores[next] = weight;
    }
    value = 0;
    shift = 0;
  }
  reading.document = document;
  reading.value = value;
  reading.shift = shift;
  reading.next = next;
}

function sliceBytes(level: number): number {
  return firstSliceBytes << level;
}

function headOf(level: number): number {
  return level === levelMax ? baseBytes : 0;
}

/** The place of the first that is not below a document, at `from` or behind; the length if none is. */
function placeFrom(documents: Int32Array, from: number, document: number): number {
  let place = from;
  while (place < documents.length && (documents[place] ?? 0) < document) place = (place + 1) | 0;
  return place;
}

/** Where the posting ends whose bytes go on at a place. */
function endOfPosting(bytes: Uint8Array, from: number): number {
  let at = from;
  while ((bytes[at] ?? 0) > 127) at += 1;
  return at + 1;
}

function readInteger(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
  return low | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
}
