import { EndpointError } from "../chain-errors.ts";
import type { ChainParts } from "../chain-parts.ts";
import type { BlockRef } from "../raw-log.ts";
import type { RangeFetcher, RangePart } from "./range-fetcher.ts";
import { RangePrefetch } from "./range-prefetch.ts";

type WalkParts<Blocks> = ChainParts & { readonly ranges: RangeFetcher<Blocks> };

/**
 * Walks final blocks from the consumer's next block to the last final one, which can move meanwhile. The ranges are
 * proven to be linked to each other. No part crosses one of `ends`. A part is emitted once its last hash is proven,
 * by the next part or by the agreement on finality. The consumer moves `unfinalized` past every part before it takes
 * the next one. Ends when an agreement is dropped.
 */
export async function* walkRanges<Blocks>(
  parts: WalkParts<Blocks>,
  ends: readonly number[],
): AsyncGenerator<RangePart<Blocks>, void, undefined> {
  const { pool, ranges, unfinalized, blockLogs } = parts;
  const finalized = () => pool.agreed ?? unfinalized.base;
  let unproven: RangePart<Blocks> | null = null;
  let prefetch = new RangePrefetch(ranges, unfinalized.nextNumber, ends);
  for (;;) {
    const fetched = await prefetch.next(finalized()?.number ?? -1);
    if (fetched === null) return;
    for (const part of fetched) {
      const final = finalized();
      if (final === null || part.last.number > final.number) return;
      const flaw = findFlaw(part, unproven?.last ?? unfinalized.base, final);
      if (flaw !== null) {
        recordWrong(part, flaw);
        await blameEarlier(parts, unproven);
        unproven = null;
        prefetch = new RangePrefetch(ranges, unfinalized.nextNumber, ends);
        break;
      }
      // The logs of a contract that the part is the first to name were not asked for, in it and in later parts.
      if (blockLogs.filter.named.replaceFrom(part.fromBlock, part.named)) {
        prefetch = new RangePrefetch(ranges, part.fromBlock, ends);
        break;
      }
      if (unproven !== null) yield unproven;
      unproven = part.last.number < final.number ? part : null;
      if (unproven === null) yield part;
    }
  }
}

/** After a wrong part, finds out whether the part before it, which is not emitted yet, or our last block is wrong too. */
async function blameEarlier(
  { finalBlockCheck, unfinalized }: WalkParts<unknown>,
  unproven: RangePart<unknown> | null,
): Promise<void> {
  const { base } = unfinalized;
  if (unproven === null) {
    if (base !== null) await finalBlockCheck.confirm(base);
  } else if (!(await finalBlockCheck.isOnChain(unproven.last))) {
    recordWrong(unproven, `block ${unproven.last.number} is not on the chain`);
  }
}

function recordWrong({ endpoint }: RangePart<unknown>, flaw: string): void {
  endpoint.recordBadData(new EndpointError("inconsistent", flaw));
}

function findFlaw(
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
