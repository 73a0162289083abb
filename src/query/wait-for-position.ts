import { storeLimits } from "../base/config/limits.ts";
import { AppError } from "../base/errors.ts";
import { type Seq, toBlockNumber } from "../base/ids.ts";
import { invalid } from "../base/input/compile-reader.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";

/** Whether a position is over `aheadBlocksMax` above the head, farther than nodes differ; `false` without a head. */
export function isAheadOfChain(position: number, headBlock: number | null): boolean {
  const block = toBlockNumber(position as Seq);
  return headBlock !== null && block > headBlock + storeLimits.aheadBlocksMax;
}

/**
 * Waits until this node has indexed a position that a client sent in `parameter`; `null` when it already has. The
 * client may have the position from another node. Throws `VALIDATION_ERROR` when the position is ahead of the chain,
 * whose newest block is `headBlock`. Rejects with `SERVICE_UNAVAILABLE` after `storeLimits.positionWaitMs`, or
 * immediately when `storeLimits.positionWaitersMax` callers wait.
 */
export function waitForPosition(
  facts: IndexedFacts,
  requested: {
    readonly position: number;
    readonly parameter: string;
    readonly headBlock: number | null;
  },
): Promise<void> | null {
  const { position, parameter, headBlock } = requested;
  if (facts.hasReached(position)) return null;
  const end = () =>
    facts.newestSeq < 0 ? "nothing is indexed yet" : `the last position is ${facts.newestSeq}`;
  if (isAheadOfChain(position, headBlock)) {
    throw invalid(parameter, `is ahead of the chain: ${end()}`);
  }
  return facts.whenReached(position, storeLimits).then((isReached) => {
    if (isReached) return;
    const publicMessage = `${parameter} is not indexed yet: ${end()}`;
    const retryAfterSeconds = storeLimits.positionRetrySeconds;
    throw new AppError("SERVICE_UNAVAILABLE", { publicMessage, retryAfterSeconds });
  });
}
