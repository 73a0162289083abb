import { EndpointError } from "../chain-errors.ts";
import type { BlockRef } from "../raw-log.ts";
import type { EndpointPool } from "../rpc/endpoint-pool.ts";
import type { FinalBlockCheck } from "./final-block-check.ts";
import type { RangeFetcher, RangePart } from "./range-fetcher.ts";
import { RangePrefetch } from "./range-prefetch.ts";

type RangeWalkerParts<Blocks> = {
  readonly pool: EndpointPool;
  readonly finalBlockCheck: FinalBlockCheck;
  readonly ranges: RangeFetcher<Blocks>;
};

/** Walks final blocks in ranges that are proven to be linked to each other. */
export class RangeWalker<Blocks> {
  readonly #parts: RangeWalkerParts<Blocks>;

  constructor(parts: RangeWalkerParts<Blocks>) {
    this.#parts = parts;
  }

  /**
   * Walks from `next` to `finalized`, which can move meanwhile. No part crosses one of `ends`. A part is emitted once
   * its last hash is proven, by the next part or by the agreement on finality. Ends when an agreement is dropped.
   */
  async *walk(
    start: {
      readonly next: number;
      readonly base: BlockRef | null;
      readonly ends: readonly number[];
    },
    finalized: () => BlockRef | null,
  ): AsyncGenerator<RangePart<Blocks>, void, undefined> {
    let { next, base } = start;
    let unproven: RangePart<Blocks> | null = null;
    let prefetch = new RangePrefetch(this.#parts.ranges, next, start.ends);
    for (;;) {
      const parts = await prefetch.next(finalized()?.number ?? -1);
      if (parts === null) return;
      for (const part of parts) {
        const final = finalized();
        if (final === null || part.toBlock > final.number) return;
        const flaw = flawOf(part, unproven?.last ?? base, final);
        if (flaw !== null) {
          await this.#blame(part, { unproven, base, flaw });
          unproven = null;
          prefetch = new RangePrefetch(this.#parts.ranges, next, start.ends);
          break;
        }
        if (unproven !== null) {
          [next, base] = [unproven.toBlock + 1, unproven.last];
          yield unproven;
          unproven = null;
        }
        if (part.toBlock < final.number) unproven = part;
        else {
          [next, base] = [part.toBlock + 1, part.last];
          yield part;
        }
      }
    }
  }

  /** Finds out what is wrong: this part, the previous part, which is not emitted yet, or our last final block. */
  async #blame(
    part: RangePart<unknown>,
    against: {
      readonly unproven: RangePart<unknown> | null;
      readonly base: BlockRef | null;
      readonly flaw: string;
    },
  ): Promise<void> {
    const { unproven, base, flaw } = against;
    this.#noteWrong(part, flaw);
    if (unproven === null) {
      if (base !== null) await this.#parts.finalBlockCheck.confirm(base);
    } else if (!(await this.#parts.finalBlockCheck.isOnChain(unproven.last))) {
      this.#noteWrong(unproven, `block ${unproven.toBlock} is not on the chain`);
    }
  }

  #noteWrong({ host }: RangePart<unknown>, flaw: string): void {
    const endpoint = this.#parts.pool.endpoints.find((one) => one.host === host);
    endpoint?.noteBadData(new EndpointError("inconsistent", flaw));
  }
}

function flawOf(
  part: RangePart<unknown>,
  base: BlockRef | null,
  finalized: BlockRef,
): string | null {
  if (base !== null && part.parentHash !== base.hash) {
    return `block ${part.fromBlock} is not the child of ${base.hash}`;
  }
  if (part.toBlock === finalized.number && part.last.hash !== finalized.hash) {
    return `block ${part.toBlock} is not the final one`;
  }
  return null;
}
