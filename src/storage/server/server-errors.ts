import { AppError } from "../../base/errors.ts";

/**
 * Of a connection that ended under way. One that is refused is not among them: the server is gone, and after a crash it
 * may know the token of an insert whose rows it has lost.
 */
const lostCodes: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"]);

/** Of the server, when it does not know the user or the password. */
const authenticationCodes: ReadonlySet<string> = new Set(["192", "193", "194", "516"]);

/** The code of an error of Node (`ECONNRESET`) or of the server (`81`). */
export function codeOf(thrown: unknown): string | null {
  if (!(thrown instanceof Error)) return null;
  if ("code" in thrown && typeof thrown.code === "string") return thrown.code;
  return codeOf(thrown.cause);
}

/** Whether the server may have done what it was asked to, or not. */
export function isConnectionLost(error: Error): boolean {
  return lostCodes.has(codeOf(error) ?? "");
}

/** What a client is answered; its `cause` says in one sentence what is wrong with the server. */
export function serverUnavailable(
  cause: Error,
  asked: { readonly host: string; readonly timedOutMs: number | null },
): AppError {
  const reason = new Error(`the ClickHouse server at ${asked.host} ${describe(cause, asked)}`, {
    cause,
  });
  return new AppError("SERVICE_UNAVAILABLE", { cause: reason, retryAfterSeconds: 1 });
}

function describe(cause: Error, { timedOutMs }: { readonly timedOutMs: number | null }): string {
  if (timedOutMs !== null) return `has not answered within ${timedOutMs / 1000} s`;
  const code = codeOf(cause);
  if (code !== null && authenticationCodes.has(code)) return "refuses the user or the password";
  const isFromServer = code !== null && /^[0-9]+$/.test(code);
  const message = cause.message.trim().replace(/\.$/, "");
  return isFromServer ? `failed: ${message} (${code})` : `cannot be reached: ${message}`;
}
