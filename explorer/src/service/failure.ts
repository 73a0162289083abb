import { OddwireError } from "../../../client/src/oddwire-error.ts";

/** Why something could not be read, in words, and whether trying again can help. */
export type Failure = {
  readonly kind: "unreachable" | "key" | "forbidden" | "missing" | "limited" | "refused";
  readonly message: string;
  /** When to try again; `null` when that cannot help. */
  readonly retryMs: number | null;
};

const firstRetryMs = 1000;

/** An error as the reader is shown it. */
export function toFailure(thrown: unknown): Failure {
  if (!(thrown instanceof OddwireError)) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return { kind: "refused", message, retryMs: null };
  }
  const { code, retryAfterMs } = thrown;
  const details = thrown.details.map(({ parameter, issue }) => `${parameter} ${issue}`);
  const message = details.length === 0 ? thrown.message : details.join("; ");
  switch (code) {
    case "UNAUTHORIZED":
      return { kind: "key", message, retryMs: null };
    case "FORBIDDEN":
      return { kind: "forbidden", message, retryMs: null };
    case "IP_BLOCKED":
      return { kind: "limited", message, retryMs: retryAfterMs };
    case "NOT_FOUND":
      return { kind: "missing", message, retryMs: null };
    case "RATE_LIMITED":
      return { kind: "limited", message, retryMs: retryAfterMs ?? 5000 };
    case "UNREACHABLE":
    case "NOT_OURS":
    case "INTERNAL_ERROR":
      return { kind: "unreachable", message, retryMs: firstRetryMs };
    case "SERVICE_UNAVAILABLE":
      return { kind: "unreachable", message, retryMs: retryAfterMs ?? firstRetryMs };
    default:
      return { kind: "refused", message, retryMs: null };
  }
}
