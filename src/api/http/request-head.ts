/** What the head of a request says of it, before anything else is read. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** The client's own id when it is harmless in a header and in a log, else a fresh one. */
export function requestIdOf(request: Pick<IncomingMessage, "headers">): string {
  const given = request.headers["x-request-id"];
  return typeof given === "string" && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : randomUUID();
}

/** What is wrong with `Host` (RFC 9112, 3.2), or `null`. Repeated lines are joined by a comma and a space. */
export function hostFaultOf(request: IncomingMessage): string | null {
  const { host } = request.headers;
  if (host === undefined) return request.httpVersion === "1.1" ? "header is missing" : null;
  return host.includes(" ") ? "header must be one host" : null;
}

/** Whether a body follows, by the headers. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
}
