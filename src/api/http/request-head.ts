/** Reads the head of a request: its id, `Host`, and whether a body follows. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** Returns the client's request id if it is safe in headers and logs, otherwise a new UUID. */
export function requestIdOf(request: Pick<IncomingMessage, "headers">): string {
  const given = request.headers["x-request-id"];
  return typeof given === "string" && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : randomUUID();
}

/** Returns what is wrong with `Host` (RFC 9112, 3.2), or `null`. Node joins repeated lines with a comma and a space. */
export function hostFaultOf(request: IncomingMessage): string | null {
  const { host } = request.headers;
  if (host === undefined) return request.httpVersion === "1.1" ? "header is missing" : null;
  return host.includes(" ") ? "header must be one host" : null;
}

/** Returns whether the headers announce a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
}
