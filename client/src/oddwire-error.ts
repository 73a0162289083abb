import type { ErrorAnswer } from "./api.ts";

type Details = ErrorAnswer["error"]["details"];

/** What the service refused, in its own words; or that it could not be reached (`UNREACHABLE`). */
export class OddwireError extends Error {
  override name = "OddwireError";
  /** HTTP status, or the close code of a stream; 0 when nothing was answered. */
  readonly status: number;
  readonly code: ErrorAnswer["error"]["code"] | "UNREACHABLE" | "NOT_OURS";
  /** Which parameter was wrong, and how. */
  readonly details: NonNullable<Details>;
  /** Stands in the service's log too. */
  readonly requestId: string | null;
  /** When to try again, as the service asked; `null` when it did not. */
  readonly retryAfterMs: number | null;

  constructor(
    message: string,
    about: {
      readonly status: number;
      readonly code: OddwireError["code"];
      readonly details?: Details;
      readonly requestId?: string | null;
      readonly retryAfterMs?: number | null;
      readonly cause?: unknown;
    },
  ) {
    super(message, about.cause === undefined ? {} : { cause: about.cause });
    this.status = about.status;
    this.code = about.code;
    this.details = about.details ?? [];
    this.requestId = about.requestId ?? null;
    this.retryAfterMs = about.retryAfterMs ?? null;
  }
}
