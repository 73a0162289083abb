import type { BlockRef } from "./raw-log.ts";

/** What went wrong with an endpoint. */
type EndpointErrorKind =
  /** A broken connection, a 5xx. */
  | "unavailable"
  /** The gateway does not take the request, and does not say why in JSON-RPC. */
  | "rejected"
  /** No answer in time. */
  | "timeout"
  /** An answer too large to be read. */
  | "oversized"
  /** 429 and its relatives; says nothing about the data. */
  | "rate_limited"
  /** An answer that is not what the protocol says. */
  | "malformed"
  /** Well-formed answers that contradict each other or the chain. */
  | "inconsistent"
  /** A JSON-RPC error object. */
  | "refused"
  /** The endpoint does not know the block. */
  | "not_yet";

/** A failure of one endpoint; another endpoint, or time, can help. Never holds the URL. */
export class EndpointError extends Error {
  override name = "EndpointError";
  readonly kind: EndpointErrorKind;
  /** How long the endpoint asked to be left alone; `null` when it did not say. */
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

  /** Whether no complete answer came; the next request may get one. */
  get isTransportFailure(): boolean {
    return this.kind === "unavailable" || this.kind === "timeout";
  }

  /** Whether what the endpoint said was at fault, not the way to it or the time. */
  get isAboutData(): boolean {
    return ["malformed", "inconsistent", "refused"].includes(this.kind);
  }
}

/** A mistake in the configuration: an endpoint serves another chain than the one asked for. */
export class WrongChainError extends Error {
  override name = "WrongChainError";

  constructor(host: string, ids: { asked: number; served: number }) {
    super(
      `the endpoint ${host} serves chain ${ids.served}, not chain ${ids.asked}: ` +
        "change ODDWIRE_RPC_URLS or ODDWIRE_CHAIN_ID",
    );
  }
}

/** A stored final block is on the chain of no endpoint that answers. Nothing is overwritten: an operator decides. */
export class ReorgBeyondFinalityError extends Error {
  override name = "ReorgBeyondFinalityError";
  readonly block: BlockRef;

  constructor(block: BlockRef, hosts: readonly string[]) {
    super(
      `the finalized block ${block.number} ${block.hash} is not on the chain of ${hosts.join(", ")}`,
    );
    this.block = block;
  }
}
