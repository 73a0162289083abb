import { type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Admission, Caller } from "../../access/admission.ts";
import { webLimits } from "../../base/config/limits.ts";
import { AppError, errorTable } from "../../base/errors.ts";
import { type Awaitable, thenMaybe } from "../../base/time/awaitable.ts";
import type { Observation } from "../metrics/request-meter.ts";
import { errorAnswer } from "../route/error-answer.ts";
import type { Upgrade } from "../stream/stream-connection.ts";
import type { StreamServer } from "../stream/stream-server.ts";
import { answerHeaders } from "./answer-headers.ts";
import { PendingResponses } from "./pending-responses.ts";
import { findHostFault, getRequestId, type ParserError, requestIdIn } from "./request-head.ts";

/** An error response to write to a bare socket. */
type SocketAnswer = {
  readonly caller: Caller;
  readonly error: AppError;
  readonly requestId: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** The methods that at least one path accepts, for `Allow`. */
export const everyMethod = "GET, HEAD, POST, DELETE, OPTIONS";

/** Node's error code for an unencoded character in the URL, which careless clients send. */
const invalidTarget = "HPE_INVALID_URL";

type RawResponseParts = {
  readonly admission: Admission;
  readonly observe?: (observation: Observation) => void;
  readonly stream?: Pick<StreamServer, "take">;
};

/** Responds where Node has no response object: malformed bytes, `CONNECT`, and requests for another protocol. */
export class RawResponses {
  readonly pending = new PendingResponses();
  /** Connections that sent invalid HTTP. Each gets one response. */
  readonly #malformed = new WeakSet<Socket>();
  readonly #parts: RawResponseParts;

  constructor(parts: RawResponseParts) {
    this.#parts = parts;
  }

  answerMalformed(error: ParserError, socket: Socket): void {
    // A client that has sent nothing gets no response: browsers keep spare connections open.
    if (error.code === "ECONNRESET" || !socket.writable || socket.bytesRead === 0) {
      socket.destroy();
      return;
    }
    if (this.#malformed.has(socket)) return;
    this.#malformed.add(socket);
    socket.pause();
    const { admission } = this.#parts;
    const message = parserFaults[error.code ?? ""] ?? "This is not valid HTTP";
    const admitted =
      error.code === invalidTarget
        ? admission.admit({ socket, headers: {} }, "public")
        : admission.admitMalformed(socket);
    this.#whenItsTurn(socket, admitted, (caller) =>
      this.#answer(socket, {
        caller,
        error: caller.refusal ?? new AppError("VALIDATION_ERROR", message),
        requestId: requestIdIn(error),
      }),
    );
  }

  refuseConnect(request: IncomingMessage, socket: Socket): void {
    this.#whenItsTurn(socket, this.#parts.admission.admit(request, "optional"), (caller) => {
      const error = caller.refusal ?? new AppError("METHOD_NOT_ALLOWED");
      const requestId = getRequestId(request);
      this.#answer(socket, { caller, error, requestId, headers: { allow: everyMethod } });
    });
  }

  /** Passes a request for another protocol to the stream, or refuses it. */
  upgrade(requested: Pick<Upgrade, "request" | "socket" | "head">): void {
    const { request, socket } = requested;
    this.#whenItsTurn(socket, this.#parts.admission.admit(request, "upgrade"), (caller) => {
      const requestId = getRequestId(request);
      const refuse: Upgrade["refuse"] = (error, headers = {}) =>
        this.#answer(socket, { caller, error, requestId, headers });
      const hostFault = findHostFault(request);
      if (caller.refusal === null && hostFault !== null) return refuse(hostFault);
      this.#parts.stream?.take({ ...requested, caller, requestId, refuse });
    });
  }

  /** Gives a request for a protocol that is not served back to the server, once earlier responses are sent. */
  async decline(
    server: Server,
    requested: Pick<Upgrade, "request" | "socket" | "head">,
  ): Promise<void> {
    const { socket } = requested;
    const destroy = () => void socket.destroy();
    socket.on("error", destroy);
    await this.pending.sent(socket);
    socket.off("error", destroy);
    if (!socket.destroyed) declineUpgrade(server, requested);
  }

  /**
   * Calls `proceed` once the caller is known and all earlier requests on the connection are answered, if possible in
   * the same turn. Node no longer listens for errors of the socket: an unhandled one would end the process meanwhile.
   */
  #whenItsTurn(
    socket: Socket,
    admitted: Awaitable<Caller>,
    proceed: (caller: Caller) => void,
  ): void {
    if (!(admitted instanceof Promise) && !this.pending.has(socket)) return proceed(admitted);
    const destroy = () => void socket.destroy();
    socket.on("error", destroy);
    void thenMaybe(admitted, async (caller) => {
      await this.pending.sent(socket);
      socket.off("error", destroy);
      proceed(caller);
    });
  }

  #answer(socket: Socket, answer: SocketAnswer): void {
    if (this.pending.hasBegun(socket)) this.pending.close(socket);
    else answerOnSocket(socket, answer);
    const { code } = answer.error;
    const { status } = errorTable[code];
    const durationMs = null;
    this.#parts.observe?.({ method: "?", route: "malformed", status, code, durationMs });
  }
}

/** What is wrong, by the error code of Node's HTTP parser. */
const parserFaults: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: `The URL and the headers are over ${webLimits.headerBytesMax / 1024} KiB together`,
  [invalidTarget]: "The URL has characters that must be percent-encoded as UTF-8",
  ERR_HTTP_REQUEST_TIMEOUT: "The request came too slowly",
};

/** Writes an error to a bare socket, with the headers and shape of every other error, and closes it. */
function answerOnSocket(socket: Socket, answer: SocketAnswer): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  // Node no longer listens for errors of a socket that asked for an upgrade. An unhandled one would end the process.
  socket.on("error", () => socket.destroy());
  const { requestId } = answer;
  const { status, headers, body } = errorAnswer(answer.error, requestId);
  const lines = Object.entries({
    ...answerHeaders(answer.caller, requestId),
    ...headers,
    ...answer.headers,
    date: new Date().toUTCString(),
    connection: "close",
    "content-length": Buffer.byteLength(body),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n`;
  socket.end(head + body, () => socket.destroy());
}

/**
 * Gives a request that asks for another protocol back to the server, without that wish. If the server itself declined
 * it, the parser would drop what follows in the same packet, such as the next request.
 */
function declineUpgrade(
  server: Server,
  { request, socket, head }: Pick<Upgrade, "request" | "socket" | "head">,
): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
    if (/^upgrade$/i.test(name)) continue;
    const kept = /^connection$/i.test(name) ? withoutUpgrade(value) : value;
    lines.push(`${name}: ${kept}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
}

function withoutUpgrade(connection: string): string {
  const options = connection.split(",").filter((option) => !/^\s*upgrade\s*$/i.test(option));
  return options.join(",");
}
