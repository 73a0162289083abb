/** Builds the frames that the service sends, except events. Each frame is one JSON text. */
import { type AppError, publicError } from "../../base/errors.ts";
import type { Freshness } from "../../rows/freshness.ts";
import type { FrameId } from "./client-frame.ts";

/** Returns a position as clients see it and can resume from it. 0 is before the first row. */
export function publicSeq(position: number): number {
  return Math.max(position, 0);
}

/** Builds a frame of the given type. `id` is the id of the client frame that it answers; `null` if there is none. */
export function answerFrame(
  type: string,
  id: FrameId | null,
  fields: Readonly<Record<string, unknown>>,
): string {
  return JSON.stringify({ type, ...(id === null ? {} : { id }), ...fields });
}

/** Builds an `error` frame with the error object of the REST API. */
export function errorFrame(error: AppError, id: FrameId | null, requestId: string): string {
  const { retryAfterSeconds: seconds = null } = error;
  const retry = seconds === null ? {} : { retry_after_seconds: seconds };
  return answerFrame("error", id, { error: { ...publicError(error, requestId), ...retry } });
}

/** Builds a `snapshot` frame: the newest rows of a channel as JSON, sent before its events. */
export function snapshotFrame(
  subscriptionId: string,
  { seq, rows }: { seq: number; rows: readonly string[] },
): string {
  const head = JSON.stringify({
    type: "snapshot",
    subscription_id: subscriptionId,
    seq: publicSeq(seq),
  });
  return `${head.slice(0, -1)},"data":[${rows.join(",")}]}`;
}

/** Builds a `reorg` frame: everything that was sent after `rewindTo` was reverted. */
export function reorgFrame(
  subscriptionId: string,
  { rewindTo, reverted }: { rewindTo: number; reverted: readonly string[] },
): string {
  const rewind = { rewind_to_seq: publicSeq(rewindTo), reverted };
  return JSON.stringify({ type: "reorg", subscription_id: subscriptionId, ...rewind });
}

/** Builds a `finalized` frame: nothing up to this block will be reverted. */
export function finalizedFrame(block: number, seq: number): string {
  return JSON.stringify({ type: "finalized", finalized_block: block, finalized_seq: seq });
}

/** Builds a `heartbeat` frame. It shows that the connection is alive, and how far the service has indexed. */
export function heartbeatFrame(freshness: Freshness): string {
  const { indexed_seq, indexed_block, head_block, finalized_block, lag_seconds } = freshness;
  const sent = { indexed_block, head_block, finalized_block, lag_seconds };
  return JSON.stringify({ type: "heartbeat", latest_seq: indexed_seq, ...sent });
}
