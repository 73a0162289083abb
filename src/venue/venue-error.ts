/**
 * Why a request to the venue failed. `unavailable`: the venue cannot be reached, does not answer or fails;
 * `rate_limited`: it wants fewer requests; `malformed`, `oversized`: its response is unexpected; `refused`: it rejects
 * the request; `not_found`: it has no such thing.
 */
export type VenueErrorKind =
  | "unavailable"
  | "rate_limited"
  | "malformed"
  | "oversized"
  | "refused"
  | "not_found";

/** A request to the venue that failed. Its message is for the log, never for clients. */
export class VenueError extends Error {
  override name = "VenueError";
  readonly kind: VenueErrorKind;
  /** The delay that the venue asked for; `null` if it asked for none. */
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

  /** Whether it concerns this request only, so that the venue itself works and a retry is useless. */
  get isRefusal(): boolean {
    return this.kind === "refused" || this.kind === "not_found";
  }
}
