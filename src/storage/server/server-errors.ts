import { AppError } from "../../base/errors.ts";

/**
 * Of a connection that ended under way. One that is refused is not among them: the server is gone, and after a crash it
 * may know the token of an insert whose rows it has lost.
 */
const lostCodes: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"]);

/** Of the server, when it does not know the user or the password. */
const authenticationCodes: ReadonlySet<string> = new Set(["192", "193", "194", "516"]);

/** Of the server, when the user lacks a right, or may not write at all. */
const forbiddenCodes: ReadonlySet<string> = new Set(["164", "497"]);

/** Of the server, when its disk has less free space than its settings demand. */
const noSpaceCode = "243";

/** Of the server, when no replica of a shard that it needs can be reached, answers in time, or is up to date. */
const shardCodes: ReadonlySet<string> = new Set(["209", "210", "279", "369"]);

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
  const publicMessage = publicReasonOf(codeOf(cause));
  return new AppError("SERVICE_UNAVAILABLE", {
    publicMessage,
    cause: reason,
    retryAfterSeconds: 1,
  });
}

/** The same without what is internal. */
function publicReasonOf(code: string | null): string {
  if (code !== null && shardCodes.has(code)) {
    return "A part of the database is down, and this needs all of it";
  }
  return "The database is not available right now";
}

function describe(cause: Error, { timedOutMs }: { readonly timedOutMs: number | null }): string {
  if (timedOutMs !== null) return `has not answered within ${timedOutMs / 1000} s`;
  const code = codeOf(cause);
  if (code !== null && authenticationCodes.has(code)) return "refuses the user or the password";
  if (code !== null && shardCodes.has(code)) {
    return `has no replica of one of its shards that is up and up to date (${code})`;
  }
  if (code === noSpaceCode) return `has too little free disk space for an insert (${code})`;
  const isFromServer = code !== null && /^[0-9]+$/.test(code);
  const message = cause.message.trim().replace(/\.$/, "");
  if (code !== null && forbiddenCodes.has(code)) {
    return `does not let the user do what is needed: ${message}`;
  }
  return isFromServer ? `failed: ${message} (${code})` : `cannot be reached: ${message}`;
}
