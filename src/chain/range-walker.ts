import { EndpointError } from "./chain-errors.ts";
import type { EndpointPool } from "./endpoint-pool.ts";
import type { History } from "./history.ts";
import type { BlockRef } from "./log.ts";
import type { RangePart } from "./range-fetcher.ts";
import { RangePrefetch, type RangeSource } from "./range-prefetch.ts";

/** Walks finalised blocks in ranges that are proven to be linked to each other. */
export class RangeWalker<Blocks> {
  readonly #pool: EndpointPool;
  readonly #history: History;
  readonly #ranges: RangeSource<Blocks>;

  constructor(parts: { pool: EndpointPool; history: History; ranges: RangeSource<Blocks> }) {
    this.#pool = parts.pool;
    this.#history = parts.history;
    this.#ranges = parts.ranges;
  }

  /** From `next`, the child of `base` if that is known, to `finalized`, which may move on meanwhile. */
  async *walk(
    start: { readonly next: number; readonly base: BlockRef | null },
    finalized: () => BlockRef,
  ): AsyncGenerator<RangePart<Blocks>, void, undefined> {
    let { next, base } = start;
    let prefetch = new RangePrefetch(this.#ranges, next);
    for (;;) {
      const parts = await prefetch.next(finalized().number);
      if (parts === null) return;
      for (const part of parts) {
        const flaw = flawOf(part, base, finalized());
        if (flaw !== null) {
          await this.#blame(part, base, flaw);
          prefetch = new RangePrefetch(this.#ranges, next);
          break;
        }
        next = part.to + 1;
        base = part.last;
        yield part;
      }
    }
  }

  /** Either our own last block is gone, or the endpoint of this part mixed up forks. */
  async #blame(part: RangePart<unknown>, base: BlockRef | null, flaw: string): Promise<void> {
    const endpoint = this.#pool.endpoints.find(({ host }) => host === part.host);
    endpoint?.noteBadData(new EndpointError("inconsistent", flaw));
    if (base !== null) await this.#history.confirm(base);
  }
}

function flawOf(
  part: RangePart<unknown>,
  base: BlockRef | null,
  finalized: BlockRef,
): string | null {
  if (base !== null && part.parentHash !== base.hash) {
    return `block ${part.from} is not the child of ${base.hash}`;
  }
  if (part.to === finalized.number && part.last.hash !== finalized.hash) {
    return `block ${part.to} is not the final one`;
  }
  return null;
}
