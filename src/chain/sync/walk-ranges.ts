import { EndpointError } from "../chain-errors.ts";
import type { BlockRef, TimedBlock } from "../raw-log.ts";
import { describeBrokenLink } from "../verify/check-logs.ts";
import { isTimeOutvoted } from "../verify/fetch-headers.ts";
import type { ChainParts } from "./chain-parts.ts";
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
  const finalized = () => pool.agreement.block ?? unfinalized.base;
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
        await penalize(parts, { part, flaw, before: unproven });
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

/** A part that does not continue the part before it, which is not emitted yet, or our last block. */
type BrokenLink = {
  readonly part: RangePart<unknown>;
  readonly flaw: string;
  readonly before: RangePart<unknown> | null;
};

/** Records a part as wrong. Finds out whether the part before it, or our last block, is wrong too. */
async function penalize(
  { pool, finalBlockCheck, unfinalized }: WalkParts<unknown>,
  { part, flaw, before }: BrokenLink,
): Promise<void> {
  recordWrong(part, flaw);
  const { base } = unfinalized;
  if (before === null) {
    if (base !== null) await finalBlockCheck.confirm(base);
  } else if (!(await finalBlockCheck.isOnChain(before.last))) {
    recordWrong(before, `block ${before.last.number} is not on the chain`);
  } else if (await isTimeOutvoted(pool, before.last)) {
    recordWrong(before, `block ${before.last.number} has another time elsewhere`);
  }
}

function recordWrong({ endpoint }: RangePart<unknown>, flaw: string): void {
  endpoint.recordBadData(new EndpointError("inconsistent", flaw));
}

function findFlaw(
  part: RangePart<unknown>,
  base: TimedBlock | null,
  finalized: BlockRef,
): string | null {
  const problem = base === null ? null : describeBrokenLink(base, part.first);
  if (problem !== null) return problem;
  if (part.last.number === finalized.number && part.last.hash !== finalized.hash) {
    return `block ${part.last.number} is not the final one`;
  }
  return null;
}
