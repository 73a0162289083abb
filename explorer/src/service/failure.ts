import { OddwireError } from "../../../client/src/oddwire-error.ts";

/** Why something could not be read, in words, and whether trying again can help. */
export type Failure = {
  readonly kind: "unreachable" | "key" | "forbidden" | "missing" | "limited" | "refused";
  readonly message: string;
  /** When to try again; `null` when that cannot help. */
  readonly retryMs: number | null;
};

const firstRetryMs = 1000;
/** What is not known may be in a block that comes. */
const unknownRetryMs = 8000;

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
      return { kind: "missing", message, retryMs: unknownRetryMs };
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

/** What is read, or `null` while the service does not know it: it may come to know it later. */
export async function orUnknown<T>(reading: Promise<T>): Promise<{ readonly known: T | null }> {
  try {
    return { known: await reading };
  } catch (thrown) {
    if (thrown instanceof OddwireError && thrown.code === "NOT_FOUND") return { known: null };
    throw thrown;
  }
}
