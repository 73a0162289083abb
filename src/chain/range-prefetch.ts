import { chainLimits } from "../base/limits.ts";
import type { BlockRange } from "./log.ts";
import type { RangePart } from "./range-fetcher.ts";

/** What prefetching needs of a fetcher, wherever that runs. */
export type RangeSource<Blocks> = {
  readonly blocksAtOnce: number;
  estimateBytes(blocks: number): number;
  fetch(range: BlockRange): Promise<readonly RangePart<Blocks>[]>;
};

type Slot<Blocks> = {
  readonly parts: Promise<readonly RangePart<Blocks>[]>;
  readonly bytes: number;
};

/** Fetches the next ranges while the consumer is busy with one, and hands them out in order. */
export class RangePrefetch<Blocks> {
  readonly #source: RangeSource<Blocks>;
  #slots: Slot<Blocks>[] = [];
  #nextFrom: number;

  constructor(source: RangeSource<Blocks>, from: number) {
    this.#source = source;
    this.#nextFrom = from;
  }

  /** The parts of the next range; `null` once all blocks up to `to` were handed out. */
  async next(to: number): Promise<readonly RangePart<Blocks>[] | null> {
    this.#fill(to);
    const slot = this.#slots.shift();
    if (slot === undefined) return null;
    const parts = await slot.parts;
    this.#fill(to);
    return parts;
  }

  #fill(to: number): void {
    while (this.#hasRoom() && this.#nextFrom <= to) {
      const from = this.#nextFrom;
      const range = { from, to: Math.min(to, from + this.#source.blocksAtOnce - 1) };
      const parts = this.#source.fetch(range);
      parts.catch(() => {}); // told to whoever asks for it; nobody may, after close
      this.#slots.push({ parts, bytes: this.#source.estimateBytes(range.to - from + 1) });
      this.#nextFrom = range.to + 1;
    }
  }

  #hasRoom(): boolean {
    if (this.#slots.length === 0) return true;
    const bytes = this.#slots.reduce((sum, slot) => sum + slot.bytes, 0);
    return (
      this.#slots.length < chainLimits.prefetchRangesMax && bytes < chainLimits.prefetchBytesMax
    );
  }
}
