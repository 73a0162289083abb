/**
 * All error codes that clients can receive. `docs/errors.md` has a section for each code; the tidy
 * test compares both.
 */
export const errorTable = {
  VALIDATION_ERROR: { status: 400, retryable: false, message: "The request is not valid" },
  INVALID_CURSOR: {
    status: 400,
    retryable: false,
    message: "The cursor is not valid here; send a next_cursor with the filters it came with",
  },
  UNAUTHORIZED: {
    status: 401,
    retryable: false,
    message: "API key missing or invalid; send it in X-API-Key",
  },
  FORBIDDEN: { status: 403, retryable: false, message: "The key's scope does not allow this" },
  IP_BLOCKED: { status: 403, retryable: true, message: "Your IP has been blocked" },
  NOT_FOUND: { status: 404, retryable: false, message: "Not found" },
  METHOD_NOT_ALLOWED: {
    status: 405,
    retryable: false,
    message: "Method not allowed; the header Allow lists those of this path",
  },
  CONFLICT: { status: 409, retryable: false, message: "Already in use" },
  PAYLOAD_TOO_LARGE: { status: 413, retryable: false, message: "The body is too large" },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    retryable: false,
    message: "Send JSON, with Content-Type: application/json",
  },
  RANGE_NOT_SATISFIABLE: {
    status: 416,
    retryable: false,
    message: "The range is not in the file; Content-Range has its length",
  },
  RATE_LIMITED: { status: 429, retryable: true, message: "Too many requests" },
  INTERNAL_ERROR: { status: 500, retryable: true, message: "Something went wrong on our side" },
  SERVICE_UNAVAILABLE: { status: 503, retryable: true, message: "Not available right now" },
} as const satisfies Record<string, { status: number; retryable: boolean; message: string }>;

/** The code of an error, by which clients decide what to do. */
export type ErrorCode = keyof typeof errorTable;

/** A wrong parameter, and what is wrong with it. Both are sent to the client. */
export type ErrorDetail = { readonly parameter: string; readonly issue: string };

/**
 * `publicMessage` replaces the message of the table. `cause` is logged, never sent. `retryAfterSeconds` is `null` where
 * no retry helps; without it, `SERVICE_UNAVAILABLE` names a default.
 */
type ErrorOptions = {
  readonly publicMessage?: string;
  readonly details?: readonly ErrorDetail[];
  readonly retryAfterSeconds?: number | null;
  readonly cause?: unknown;
};

/**
 * An expected failure that is sent to the client. A text is its `publicMessage`, which must not contain anything
 * internal. It has no stack.
 */
export class AppError extends Error {
  override name = "AppError";
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[];
  readonly retryAfterSeconds: number | null | undefined;

  constructor(code: ErrorCode, given: string | ErrorOptions = {}) {
    const options = typeof given === "string" ? { publicMessage: given } : given;
    // The stack of a refusal is useless, and capturing it costs more than the rest of the refusal.
    // An internal failure is the `cause`, which has its own stack.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(options.publicMessage ?? errorTable[code].message, { cause: options.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.code = code;
    this.details = options.details ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** A running role has to start again, in the same process, to take in what another process did or a repair needs. */
export class StartAgainError extends Error {
  override name = "StartAgainError";
}

/** Returns the body of an error that is sent to the client. It contains nothing internal. */
export function publicError({ code, message, details }: AppError, requestId: string) {
  return { code, message, ...(details.length === 0 ? {} : { details }), request_id: requestId };
}

/** Converts any thrown value to an `Error`. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** Returns why `fetch` failed: the message of its cause, or the code if several addresses were tried. */
export function fetchFailure({ message, cause }: Error): string {
  if (!(cause instanceof Error)) return message;
  return cause.message || ((cause as NodeJS.ErrnoException).code ?? message);
}
