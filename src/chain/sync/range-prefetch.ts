import { chainLimits } from "../../base/config/limits.ts";
import type { BlockRange } from "../raw-log.ts";
import type { RangeFetcher, RangePart } from "./range-fetcher.ts";

type Slot<Blocks> = {
  readonly parts: Promise<readonly RangePart<Blocks>[]>;
  readonly bytes: number;
  isFetched: boolean;
};

/** Fetches the next ranges while the consumer is busy, and returns them in order. */
export class RangePrefetch<Blocks> {
  readonly #fetcher: RangeFetcher<Blocks>;
  readonly #slots: Slot<Blocks>[] = [];
  readonly #ends: readonly number[];
  #nextFrom: number;

  /** No range crosses a block of `ends`: it can only end with it. */
  constructor(fetcher: RangeFetcher<Blocks>, from: number, ends: readonly number[]) {
    this.#fetcher = fetcher;
    this.#nextFrom = from;
    this.#ends = ends;
  }

  /** Returns the parts of the next range, or `null` once all blocks up to `to` were handed out. */
  async next(to: number): Promise<readonly RangePart<Blocks>[] | null> {
    this.#fill(to);
    const [slot] = this.#slots;
    if (slot === undefined) return null;
    while (!slot.isFetched) {
      const fetching = this.#slots.filter(({ isFetched }) => !isFetched);
      await Promise.race(fetching.map(({ parts }) => parts));
      this.#fill(to);
    }
    const parts = await slot.parts;
    this.#slots.shift();
    this.#fill(to);
    return parts;
  }

  #fill(to: number): void {
    while (this.#hasRoom() && this.#nextFrom <= to) {
      const from = this.#nextFrom;
      const ends = this.#ends.filter((end) => end >= from);
      const range = { from, to: Math.min(to, from + this.#fetcher.blocksAtOnce - 1, ...ends) };
      this.#slots.push(this.#fetch(range));
      this.#nextFrom = range.to + 1;
    }
  }

  #fetch(range: BlockRange): Slot<Blocks> {
    const parts = this.#fetcher.fetch(range);
    const bytes = this.#fetcher.estimateBytes(range.to - range.from + 1);
    const slot = { parts, bytes, isFetched: false };
    const end = (): void => {
      slot.isFetched = true;
    };
    slot.parts.then(end, end); // `next` throws the failure, but is not always called after close
    return slot;
  }

  #hasRoom(): boolean {
    const [first] = this.#slots;
    if (first === undefined) return true;
    const { prefetchRangesMax, prefetchBytesMax, prefetchLateRangesMax } = chainLimits;
    const slotsMax = first.isFetched ? prefetchRangesMax : prefetchLateRangesMax;
    const bytes = this.#slots.reduce((sum, slot) => sum + slot.bytes, 0);
    return (
      this.#slots.length < slotsMax &&
      this.#countBusy() < prefetchRangesMax &&
      bytes < prefetchBytesMax
    );
  }

  /** Counts the ranges being fetched. A few that many later ones overtook do not count: their requests may hang. */
  #countBusy(): number {
    const { prefetchRangesMax, overtakenRangesMax } = chainLimits;
    let fetchedAfter = 0;
    let busy = 0;
    let overtaken = 0;
    for (const { isFetched } of this.#slots.toReversed()) {
      if (isFetched) fetchedAfter += 1;
      else if (fetchedAfter < prefetchRangesMax) busy += 1;
      else overtaken += 1;
    }
    return busy + Math.max(0, overtaken - overtakenRangesMax);
  }
}
