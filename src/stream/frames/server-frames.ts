/** The frames of the service other than events; each is one JSON text. */
import { type AppError, publicError } from "../../base/errors.ts";
import type { Freshness } from "../../rows/freshness.ts";
import type { Entry } from "../hub/channel.ts";
import type { FrameId } from "./frame-fields.ts";

/** A position as clients see it, and may resume from: 0 is before everything. */
export function shownSeq(position: number): number {
  return Math.max(position, 0);
}

/** A frame of the given type; `id` is that of the client's frame it answers. */
export function answerFrame(
  type: string,
  id: FrameId | null,
  fields: Readonly<Record<string, unknown>>,
): string {
  return JSON.stringify({ type, ...(id === null ? {} : { id }), ...fields });
}

/** The error object of REST answers, as a frame. */
export function errorFrame(error: AppError, id: FrameId | null, requestId: string): string {
  const { retryAfterSeconds: seconds } = error;
  const retry = seconds === null ? {} : { retry_after_seconds: seconds };
  return answerFrame("error", id, { error: { ...publicError(error, requestId), ...retry } });
}

/** The newest rows of a channel, before its events. */
export function snapshotFrame(
  subscriptionId: string,
  { seq, entries }: { seq: number; entries: readonly Entry[] },
): string {
  const head = JSON.stringify({
    type: "snapshot",
    subscription_id: subscriptionId,
    seq: shownSeq(seq),
  });
  return `${head.slice(0, -1)},"data":[${entries.map(({ json }) => json).join(",")}]}`;
}

/** That a fork reverted what was sent behind a position. */
export function reorgFrame(
  subscriptionId: string,
  { rewindTo, reverted }: { rewindTo: number; reverted: readonly string[] },
): string {
  const rewind = { rewind_to_seq: shownSeq(rewindTo), reverted };
  return JSON.stringify({ type: "reorg", subscription_id: subscriptionId, ...rewind });
}

/** That everything up to a block can never be reverted. */
export function finalizedFrame(block: number, seq: number): string {
  return JSON.stringify({ type: "finalized", finalized_block: block, finalized_seq: seq });
}

/** That the connection is alive, and how far the service is. */
export function heartbeatFrame(freshness: Freshness): string {
  const { indexed_seq, indexed_block, head_block, finalized_block, lag_seconds } = freshness;
  const sent = { indexed_block, head_block, finalized_block, lag_seconds };
  return JSON.stringify({ type: "heartbeat", latest_seq: indexed_seq, ...sent });
}
