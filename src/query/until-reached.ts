import { storeLimits } from "../base/config/limits.ts";
import { AppError } from "../base/errors.ts";
import { blockNumberOf, type Seq } from "../base/ids.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";

/** Whether a position is over `aheadBlocksMax` above the head, farther than nodes differ; `false` without a head. */
export function isAheadOfChain(position: number, headBlock: number | null): boolean {
  const block = blockNumberOf(position as Seq);
  return headBlock !== null && block > headBlock + storeLimits.aheadBlocksMax;
}

/**
 * Waits until this node has indexed a position that a client sent in `parameter`; `null` when it already has. The
 * client may have the position from another node. Rejects with `SERVICE_UNAVAILABLE` after
 * `storeLimits.positionWaitMs`, or immediately when `storeLimits.positionWaitersMax` callers wait.
 */
export function untilReached(
  facts: IndexedFacts,
  { position, parameter }: { readonly position: number; readonly parameter: string },
): Promise<void> | null {
  if (facts.hasReached(position)) return null;
  return facts.whenReached(position, storeLimits).then((isReached) => {
    if (isReached) return;
    const publicMessage = `${parameter} is not indexed yet: ${endOf(facts)}`;
    const retryAfterSeconds = storeLimits.positionRetrySeconds;
    throw new AppError("SERVICE_UNAVAILABLE", { publicMessage, retryAfterSeconds });
  });
}

/** Returns a phrase about the newest indexed position, for error messages. */
export function endOf({ newestSeq }: IndexedFacts): string {
  return newestSeq < 0 ? "nothing is indexed yet" : `the last position is ${newestSeq}`;
}
