import { streamLimits } from "../../base/config/limits.ts";
import { AppError } from "../../base/errors.ts";
import { blockNumberOf, type Seq } from "../../base/ids.ts";
import type { Freshness } from "../../rows/freshness.ts";
import { invalidFrame } from "../frames/read-fields.ts";
import type { Hub } from "./hub.ts";

/**
 * Refuses to resume from a position that is not indexed: the client would wait without a word. Throws
 * `SERVICE_UNAVAILABLE` while the service may still come to it, and `VALIDATION_ERROR` when it is
 * ahead of the chain.
 */
export function refuseAhead(
  position: number,
  { hub, freshness }: { readonly hub: Hub; readonly freshness: () => Freshness },
): void {
  if (!hub.isAhead(position)) return;
  const last =
    hub.latestSeq < 0 ? "nothing is indexed yet" : `the last position is ${hub.latestSeq}`;
  const { head_block: head } = freshness();
  const block = blockNumberOf(position as Seq);
  if (head !== null && block > head + streamLimits.resumeAheadBlocksMax) {
    throw invalidFrame("resume_from", `is ahead of the chain: ${last}`);
  }
  const publicMessage = `resume_from is not indexed yet: ${last}`;
  const { resumeAheadRetrySeconds: retryAfterSeconds } = streamLimits;
  throw new AppError("SERVICE_UNAVAILABLE", { publicMessage, retryAfterSeconds });
}
