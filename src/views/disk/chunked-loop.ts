import type { Range } from "../../base/range.ts";

/** Some of what a loop looks at, the end excluded. */
export type Chunk = Range<number>;

/** Short enough for a few calls of the first walk to be slow, and long enough for their number not to count. */
export const stepItems = 4096;

/** Walks step by step, and sums what `work` returns: V8 keeps what it made of functions that are called often. */
export function inChunks(length: number, work: (chunk: Chunk, before: number) => number): number {
  let sum = 0;
  for (let from = 0; from < length; from += stepItems) {
    sum += work({ from, to: Math.min(from + stepItems, length) }, sum);
  }
  return sum;
}
