import type { Range } from "../../base/range.ts";

/** Some of what a loop looks at, the end excluded. */
export type Chunk = Range<number>;

/** Short enough for a few calls of the first walk to be slow, and long enough for their number not to count. */
export const stepItems = 4096;

/**
 * Walks over so many things step by step, and answers the sum of what is answered for each step, which
 * is sent the sum of those before it. What V8
 * makes of a function that is called often stays. Of one that is seldom called, and loops for
 * milliseconds, it only replaces the loop that is running, and forgets that with the next
 * collection: every few walks would be five to ten times as slow as the others.
 */
export function inChunks(length: number, work: (chunk: Chunk, before: number) => number): number {
  let sum = 0;
  for (let from = 0; from < length; from += stepItems) {
    sum += work({ from, to: Math.min(from + stepItems, length) }, sum);
  }
  return sum;
}
