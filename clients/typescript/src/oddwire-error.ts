import type { ErrorAnswer } from "./api.ts";

type Details = ErrorAnswer["error"]["details"];

/**
 * An error of the service with its message. The code is `UNREACHABLE` if there was no answer, and `NOT_OURS` if the
 * answer is not from the service.
 */
export class OddwireError extends Error {
  override name = "OddwireError";
  /** The HTTP status or the close code of a stream; 0 if there is none. */
  readonly status: number;
  readonly code: ErrorAnswer["error"]["code"] | "UNREACHABLE" | "NOT_OURS";
  /** The invalid parameters, and what is wrong with them. */
  readonly details: NonNullable<Details>;
  /** The id of the request, which the service logs too. */
  readonly requestId: string | null;
  /** The wait before a retry that the service asked for; `null` if it asked for none. */
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

/** The message of a refusal of requests without a key, whose `key` was probably an environment variable that is not set. */
export const noKeyMessage = "no API key was given: set the option key of the client";
