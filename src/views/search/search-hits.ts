/** What a search of markets has found, in blocks of memory that are used again. */

import { type Chunk, inChunks } from "../disk/chunked-loop.ts";

/** What was found, as long as nothing else is looked for. */
export type Hits =
  /** Markets in rising order and how well each answers, for those who asked to change. */
  | { readonly kind: "few"; readonly ordinals: Int32Array; readonly scores: Uint16Array }
  /** Scores by ordinal for each of the words; what has all of them was found, none with more than `top`. */
  | { readonly kind: "many"; readonly words: readonly Uint8Array[]; readonly top: number };

/** What is found by ordinals. */
export type Found = Extract<Hits, { readonly kind: "few" }>;

/** What is found where a word is in no market. */
export const noHits: Found = {
  kind: "few",
  ordinals: new Int32Array(0),
  scores: new Uint16Array(0),
};

/** Where what is found is put: it is good until something else is gathered. */
export class HitRoom {
  #ordinals = new Int32Array(0);
  #scores = new Uint16Array(0);
  #gatherings = 0;

  /** How often something was gathered. */
  get gatherings(): number {
    return this.#gatherings;
  }

  /**
   * The markets below `count` that have a score, at most so many where that is known; `all` has room for a
   * multiple of four.
   */
  gather(all: Uint8Array, count: number, most: number | null = null): Found {
    this.#gatherings += 1;
    const fours = new Uint32Array(all.buffer, 0, Math.ceil(count / 4));
    const room = most ?? 4 * inChunks(fours.length, (step) => countFilled(fours, step));
    if (this.#ordinals.length < room) {
      this.#ordinals = new Int32Array(room * 2);
      this.#scores = new Uint16Array(room * 2);
    }
    const found = { ordinals: this.#ordinals, scores: this.#scores };
    const length = inChunks(fours.length, (step, before) =>
      gather(fours, { ...found, before }, step),
    );
    return cut(found, length);
  }
}

/** The highest score, which is `most` at the most: most words are met with that soon. */
export function highestOf(scores: Uint8Array, most: number): number {
  let highest = 0;
  inChunks(scores.length, (step) => {
    if (highest < most) highest = Math.max(highest, highestIn(scores, step));
    return 0;
  });
  return highest;
}

function highestIn(scores: Uint8Array, { from, to }: Chunk): number {
  let highest = 0;
  for (let at = from; at < to; at += 1) {
    const score = scores[at] ?? 0;
    if (score > highest) highest = score;
  }
  return highest;
}

/** How many of all scores, four at a time as most are 0, have one that is not. */
function countFilled(fours: Uint32Array, { from, to }: Chunk): number {
  let filled = 0;
  for (let four = from; four < to; four += 1) if (fours[four] !== 0) filled += 1;
  return filled;
}

/** What was found, and how much of it in the steps before. */
type Gathered = Omit<Found, "kind"> & { readonly before: number };

/** Writes down what has a score; how much that is. The first of four is in the lowest byte. */
function gather(
  fours: Uint32Array,
  { ordinals, scores, before }: Gathered,
  { from, to }: Chunk,
): number {
  let length = before;
  for (let four = from; four < to; four += 1) {
    let rest = fours[four] ?? 0;
    for (let ordinal = four * 4; rest !== 0; ordinal += 1) {
      const score = rest & 255;
      rest >>>= 8;
      if (score === 0) continue;
      ordinals[length] = ordinal;
      scores[length] = score;
      length += 1;
    }
  }
  return length - before;
}

/** What was found and has a further score, by ordinal; in the place of what was found. */
export function intersect(found: Found, more: Uint8Array): Found {
  const { ordinals, scores } = found;
  const length = inChunks(ordinals.length, (step, before) =>
    keepScoredByOrdinal({ ordinals, scores, before }, more, step),
  );
  return cut(found, length);
}

/** The same with scores in the order of what was found. */
export function keepScored(found: Found, more: Uint8Array): Found {
  const { ordinals, scores } = found;
  const length = inChunks(ordinals.length, (step, before) =>
    keepScoredInOrder({ ordinals, scores, before }, more, step),
  );
  return cut(found, length);
}

function keepScoredByOrdinal(
  { ordinals, scores, before }: Gathered,
  more: Uint8Array,
  { from, to }: Chunk,
): number {
  let length = before;
  for (let at = from; at < to; at += 1) {
    const ordinal = ordinals[at] ?? 0;
    const score = more[ordinal] ?? 0;
    if (score === 0) continue;
    ordinals[length] = ordinal;
    scores[length] = (scores[at] ?? 0) + score;
    length += 1;
  }
  return length - before;
}

function keepScoredInOrder(
  { ordinals, scores, before }: Gathered,
  more: Uint8Array,
  { from, to }: Chunk,
): number {
  let length = before;
  for (let at = from; at < to; at += 1) {
    const score = more[at] ?? 0;
    if (score === 0) continue;
    ordinals[length] = ordinals[at] ?? 0;
    scores[length] = (scores[at] ?? 0) + score;
    length += 1;
  }
  return length - before;
}

function cut({ ordinals, scores }: Omit<Found, "kind">, length: number): Found {
  return {
    kind: "few",
    ordinals: ordinals.subarray(0, length),
    scores: scores.subarray(0, length),
  };
}
