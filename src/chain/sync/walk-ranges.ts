import { EndpointError } from "../chain-errors.ts";
import type { BlockRef } from "../raw-log.ts";
import type { EndpointPool } from "../rpc/endpoint-pool.ts";
import type { FinalBlockCheck } from "./final-block-check.ts";
import type { RangeFetcher, RangePart } from "./range-fetcher.ts";
import { RangePrefetch } from "./range-prefetch.ts";

/** What `walkRanges` walks with. */
export type WalkParts<Blocks> = {
  readonly pool: EndpointPool;
  readonly finalBlockCheck: FinalBlockCheck;
  readonly ranges: RangeFetcher<Blocks>;
};

/**
 * Walks final blocks in ranges that are proven to be linked to each other, from `next` to `finalized`, which can move
 * meanwhile. No part crosses one of `ends`. A part is emitted once its last hash is proven, by the next part or by the
 * agreement on finality. Ends when an agreement is dropped.
 */
export async function* walkRanges<Blocks>(
  parts: WalkParts<Blocks>,
  start: {
    readonly next: number;
    readonly base: BlockRef | null;
    readonly ends: readonly number[];
  },
  finalized: () => BlockRef | null,
): AsyncGenerator<RangePart<Blocks>, void, undefined> {
  let { next, base } = start;
  let unproven: RangePart<Blocks> | null = null;
  let prefetch = new RangePrefetch(parts.ranges, next, start.ends);
  for (;;) {
    const fetched = await prefetch.next(finalized()?.number ?? -1);
    if (fetched === null) return;
    for (const part of fetched) {
      const final = finalized();
      if (final === null || part.last.number > final.number) return;
      const flaw = flawOf(part, unproven?.last ?? base, final);
      if (flaw !== null) {
        await blame(parts, part, { unproven, base, flaw });
        unproven = null;
        prefetch = new RangePrefetch(parts.ranges, next, start.ends);
        break;
      }
      if (unproven !== null) {
        [next, base] = [unproven.last.number + 1, unproven.last];
        yield unproven;
        unproven = null;
      }
      if (part.last.number < final.number) unproven = part;
      else {
        [next, base] = [part.last.number + 1, part.last];
        yield part;
      }
    }
  }
}

/** Finds out what is wrong: this part, the previous part, which is not emitted yet, or our last final block. */
async function blame(
  { pool, finalBlockCheck }: WalkParts<unknown>,
  part: RangePart<unknown>,
  against: {
    readonly unproven: RangePart<unknown> | null;
    readonly base: BlockRef | null;
    readonly flaw: string;
  },
): Promise<void> {
  const { unproven, base, flaw } = against;
  noteWrong(pool, part, flaw);
  if (unproven === null) {
    if (base !== null) await finalBlockCheck.confirm(base);
  } else if (!(await finalBlockCheck.isOnChain(unproven.last))) {
    noteWrong(pool, unproven, `block ${unproven.last.number} is not on the chain`);
  }
}

function noteWrong({ endpoints }: EndpointPool, { host }: RangePart<unknown>, flaw: string): void {
  const endpoint = endpoints.find((one) => one.host === host);
  endpoint?.noteBadData(new EndpointError("inconsistent", flaw));
}

function flawOf(
  part: RangePart<unknown>,
  base: BlockRef | null,
  finalized: BlockRef,
): string | null {
  if (base !== null && part.parentHash !== base.hash) {
    return `block ${part.fromBlock} is not the child of ${base.hash}`;
  }
  if (part.last.number === finalized.number && part.last.hash !== finalized.hash) {
    return `block ${part.last.number} is not the final one`;
  }
  return null;
}
