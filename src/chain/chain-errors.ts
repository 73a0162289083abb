import type { BlockRef } from "./raw-log.ts";

/** The ways in which an endpoint can fail. */
export type EndpointErrorKind =
  /** A broken connection, a 5xx. */
  | "unavailable"
  /** The request was rejected as a whole, not by a JSON-RPC error in reply to one of its calls. */
  | "rejected"
  /** No answer in time. */
  | "timeout"
  /** An answer larger than the limit. */
  | "oversized"
  /** A rate limit: HTTP 429 or an equivalent. Never a sign of wrong data. */
  | "rate_limited"
  /** An answer that violates the protocol. */
  | "malformed"
  /** Well-formed answers that contradict each other or the chain. */
  | "inconsistent"
  /** A JSON-RPC error object. */
  | "refused"
  /** The endpoint does not know the block. */
  | "not_yet";

/** A failure of one endpoint. Another endpoint or a retry can succeed. Never has the URL, which can contain secrets. */
export class EndpointError extends Error {
  override name = "EndpointError";
  readonly kind: EndpointErrorKind;
  /** The pause that the endpoint asked for; `null` when it named none. */
  readonly retryAfterMs: number | null;

  constructor(
    kind: EndpointErrorKind,
    message: string,
    options: { cause?: unknown; retryAfterMs?: number | null } = {},
  ) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }

  /** Whether no complete answer came. The next request can succeed. */
  get isTransportFailure(): boolean {
    return this.kind === "unavailable" || this.kind === "timeout";
  }

  /** Whether it is still open what the endpoint would answer. */
  get isUnanswered(): boolean {
    return this.isTransportFailure || this.kind === "rate_limited";
  }

  /** Whether the content of the answer was at fault, not the connection or the timing. */
  get isAboutData(): boolean {
    return ["malformed", "inconsistent", "refused"].includes(this.kind);
  }
}

/** A configuration error: an endpoint serves another chain than the configured one. */
export class WrongChainError extends Error {
  override name = "WrongChainError";

  constructor(host: string, ids: { requested: number; served: number }) {
    super(
      `the endpoint ${host} serves chain ${ids.served}, not chain ${ids.requested}: ` +
        "change ODDWIRE_RPC_URLS or ODDWIRE_CHAIN_ID",
    );
  }
}

/** The endpoints agree that a stored final block is not on the chain. Nothing is overwritten: the operator decides. */
export class ReorgBeyondFinalityError extends Error {
  override name = "ReorgBeyondFinalityError";

  constructor({ number, hash }: BlockRef, hosts: readonly string[]) {
    super(`the finalized block ${number} ${hash} is not on the chain of ${hosts.join(", ")}`);
  }
}

/** Resolves with the answer of an endpoint; with `null` when it fails. */
export async function nullIfFailed<T>(request: Promise<T>): Promise<T | null> {
  try {
    return await request;
  } catch (thrown) {
    if (thrown instanceof EndpointError) return null;
    throw thrown;
  }
}
