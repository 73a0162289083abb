/** Reads the head of a request: its id, `Host`, and whether a body follows. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { AppError } from "../../base/errors.ts";
import { invalid } from "../../base/input/compile-reader.ts";

/** Returns the client's request id if it is safe in headers and logs, otherwise a new UUID. */
export function getRequestId(request: Pick<IncomingMessage, "headers">): string {
  const given = request.headers["x-request-id"];
  return typeof given === "string" && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : randomUUID();
}

/** Node's parser adds the bytes that it could not parse, and where it stopped. */
export type ParserError = NodeJS.ErrnoException & {
  readonly rawPacket?: unknown;
  readonly bytesParsed?: number;
};

/** Returns the request id of a request that the parser refused, if its bytes have one; otherwise a new UUID. */
export function requestIdIn({ rawPacket, bytesParsed = 0 }: ParserError): string {
  const text = rawPacket instanceof Buffer ? rawPacket.toString("latin1") : "";
  // The bytes can begin with other requests.
  const end = text.lastIndexOf("\r\n\r\n", bytesParsed);
  const [head = ""] = text.slice(end === -1 ? 0 : end + 4).split("\r\n\r\n");
  const given = [...head.matchAll(/^x-request-id:[ \t]*(.*?)[ \t]*$/gim)].map(([, id]) => id);
  return getRequestId({ headers: given.length === 1 ? { "x-request-id": given[0] } : {} });
}

/** Returns the error for a request without exactly one `Host` (RFC 9112, 3.2), or `null`. */
export function findHostFault(request: IncomingMessage): AppError | null {
  const { host } = request.headers;
  if (host === undefined)
    return request.httpVersion === "1.1" ? invalid("host", "header is missing") : null;
  // Node joins repeated lines with a comma and a space.
  return host.includes(" ") ? invalid("host", "header must be one host") : null;
}

/** Returns whether the headers announce a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
}
