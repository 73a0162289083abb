import { OddwireError } from "../../../clients/typescript/src/oddwire-error.ts";

/** Why something could not be read, in words, and when to try again. */
export type Failure = {
  readonly kind: "unreachable" | "key" | "forbidden" | "missing" | "limited" | "refused";
  readonly message: string;
  /** The wait before the next attempt; `null` if another attempt cannot help. */
  readonly retryMs: number | null;
};

const firstRetryMs = 1000;
/** An unknown item can be in a later block. */
const unknownRetryMs = 8000;

/** Converts an error to the failure that the page shows. */
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
    case "NOT_FOUND":
      return { kind: "missing", message, retryMs: unknownRetryMs };
    case "IP_BLOCKED":
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

/** What was read; `null` if the service does not know it, with the reason. It can become known later. */
export type OrUnknown<T> = { readonly known: T | null; readonly reason: string };

export async function orUnknown<T>(reading: Promise<T>): Promise<OrUnknown<T>> {
  try {
    return { known: await reading, reason: "" };
  } catch (thrown) {
    if (!(thrown instanceof OddwireError) || thrown.code !== "NOT_FOUND") throw thrown;
    return { known: null, reason: thrown.message };
  }
}
