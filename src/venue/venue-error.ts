/**
 * Why the venue did not give what it was asked for: `unavailable` it cannot be reached, does not answer or
 * fails; `rate_limited` it wants fewer requests; `malformed` and `oversized` it answered something
 * else; `refused` it finds the request wrong; `not_found` it has no such thing; `busy` too many
 * requests of ours wait already.
 */
export type VenueErrorKind =
  | "unavailable"
  | "rate_limited"
  | "malformed"
  | "oversized"
  | "refused"
  | "not_found"
  | "busy";

/** A request to the venue that failed. Its message is for the log, never for clients. */
export class VenueError extends Error {
  override name = "VenueError";
  readonly kind: VenueErrorKind;
  /** What the venue asked for, if it did. */
  readonly retryAfterMs: number | null;

  constructor(
    kind: VenueErrorKind,
    message: string,
    options: { retryAfterMs?: number | null; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}
