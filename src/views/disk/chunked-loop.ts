import type { Range } from "../../base/range.ts";

/** A part of the indices of a loop; the end is exclusive. */
export type Chunk = Range<number>;

/** Items of a chunk: few enough that V8 optimizes `work` early in the first loop, enough that calls cost little. */
export const stepItems = 4096;

/**
 * Calls `work` for one chunk after the other, and returns the sum of its results. V8 keeps the optimized code of
 * functions that are called often, but not that of a single long loop.
 */
export function inChunks(length: number, work: (chunk: Chunk, before: number) => number): number {
  let sum = 0;
  for (let from = 0; from < length; from += stepItems) {
    sum += work({ from, to: Math.min(from + stepItems, length) }, sum);
  }
  return sum;
}
