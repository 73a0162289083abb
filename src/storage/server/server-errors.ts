import { AppError } from "../../base/errors.ts";

/**
 * Codes of Node for a connection that broke during a statement. A refused connection is not among them. That server
 * is down, and after a crash it can know the token of an insert whose rows it has lost.
 */
const lostCodes: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"]);

/** Codes of the server for an unknown user or a wrong password. */
const authenticationCodes: ReadonlySet<string> = new Set(["192", "193", "194", "516"]);

/** Codes of the server for a user who lacks a right, or who may not write at all. */
const forbiddenCodes: ReadonlySet<string> = new Set(["164", "497"]);

/** Codes of the server for a table or a database that does not exist. */
const missingCodes: ReadonlySet<string> = new Set(["60", "81"]);

/** Code of the server when its disk has less free space than its settings demand. */
const noSpaceCode = "243";

/** Codes of the server when a shard has no replica that is reachable, answers in time and is up to date. */
const shardCodes: ReadonlySet<string> = new Set(["209", "210", "279", "369"]);

/**
 * Codes of a server that can do nothing for us now, although another one behind the same address may: its table is
 * read-only, it has lost Keeper, or it shuts down.
 */
const wrongServerCodes: ReadonlySet<string> = new Set(["225", "236", "242", "999"]);

/** Whether the next statement needs a new connection, because the address may lead to another server by now. */
export function isWrongServer(error: Error): boolean {
  return wrongServerCodes.has(toCode(error) ?? "");
}

/** Returns the code of an error of Node (`ECONNRESET`) or of the server (`81`); `null` without one. */
export function toCode(thrown: unknown): string | null {
  if (!(thrown instanceof Error)) return null;
  if ("code" in thrown && typeof thrown.code === "string") return thrown.code;
  return toCode(thrown.cause);
}

/** Whether the connection broke during a statement, so that the server may or may not have carried it out. */
export function isConnectionLost(error: Error): boolean {
  return lostCodes.has(toCode(error) ?? "");
}

/** Returns the error for clients. Its `cause` says in one sentence what is wrong with the server, for the log. */
export function serverUnavailable(
  cause: Error,
  requested: { readonly host: string; readonly timedOutMs: number | null },
): AppError {
  const reason = new Error(
    `the ClickHouse server at ${requested.host} ${describe(cause, requested)}`,
    {
      cause,
    },
  );
  const publicMessage = getPublicReason(toCode(cause));
  return new AppError("SERVICE_UNAVAILABLE", {
    publicMessage,
    cause: reason,
    retryAfterSeconds: 1,
  });
}

/** Returns the reason for clients, without internal details. */
function getPublicReason(code: string | null): string {
  if (code !== null && shardCodes.has(code)) {
    return "A part of the database is down, and this needs all of it";
  }
  return "The database is not available right now";
}

function describe(cause: Error, { timedOutMs }: { readonly timedOutMs: number | null }): string {
  if (timedOutMs !== null) return `has not answered within ${timedOutMs / 1000} s`;
  const code = toCode(cause);
  if (code !== null && authenticationCodes.has(code)) return "refuses the user or the password";
  if (code !== null && shardCodes.has(code)) {
    return `has no replica of one of its shards that is up and up to date (${code})`;
  }
  if (code === "EPROTO") {
    return "cannot be reached: the TLS handshake failed; use an http URL if it has no TLS (EPROTO)";
  }
  if (code === noSpaceCode) return `has too little free disk space for an insert (${code})`;
  const isFromServer = code !== null && /^[0-9]+$/.test(code);
  const message = cause.message.trim().replace(/\.$/, "");
  if (code !== null && forbiddenCodes.has(code)) {
    return `does not let the user do what is needed: ${message}`;
  }
  if (code !== null && missingCodes.has(code)) {
    return `failed: ${message} (${code}); check ODDWIRE_CLICKHOUSE_DATABASE, or run \`oddwire cluster schema\``;
  }
  return isFromServer ? `failed: ${message} (${code})` : `cannot be reached: ${message}`;
}
