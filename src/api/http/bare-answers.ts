import { randomUUID } from "node:crypto";
import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Admission, Caller } from "../../access/admission.ts";
import { AppError, errorTable } from "../../base/errors.ts";
import { invalid } from "../../base/input/compile-reader.ts";
import { type Awaitable, whenKnown } from "../../base/time/awaitable.ts";
import type { Observation } from "../metrics/request-meter.ts";
import type { StreamServer, Upgrade } from "../stream/stream-server.ts";
import { answerHeaders } from "./answer-headers.ts";
import { errorAnswer } from "./error-answer.ts";
import { PendingResponses } from "./pending-responses.ts";
import { hostFaultOf, requestIdOf } from "./request-head.ts";

/** A refusal on a bare socket. */
type SocketAnswer = {
  readonly caller: Caller;
  readonly error: AppError;
  /** Fresh unless given. */
  readonly requestId?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** What some path takes. */
export const everyMethod = "GET, HEAD, POST, DELETE, OPTIONS";

/** A raw character in a request target, as careless clients send it. */
const invalidTarget = "HPE_INVALID_URL";

/** What answers need that are written to the socket itself. */
type BareParts = {
  readonly admission: Admission;
  readonly observe?: (observation: Observation) => void;
  readonly stream?: Pick<StreamServer, "take">;
};

/** Answers where Node has no response object: malformed bytes, `CONNECT`, and requests for another protocol. */
export class BareAnswers {
  readonly pending = new PendingResponses();
  /** Connections whose bytes are no HTTP, which are answered once. */
  readonly #malformed = new WeakSet<Socket>();
  readonly #parts: BareParts;

  constructor(parts: BareParts) {
    this.#parts = parts;
  }

  answerMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
    // A client that has sent nothing gets no answer: browsers keep such connections open.
    if (error.code === "ECONNRESET" || !socket.writable || socket.bytesRead === 0) {
      socket.destroy();
      return;
    }
    if (this.#malformed.has(socket)) return;
    this.#malformed.add(socket);
    socket.pause();
    const { admission } = this.#parts;
    const admitted =
      error.code === invalidTarget
        ? admission.admit({ socket, headers: {} }, "public")
        : admission.admitMalformed(socket);
    this.#whenItsTurn(socket, admitted, (caller) =>
      this.#answer(socket, { caller, error: caller.refusal ?? parserError(error.code) }),
    );
  }

  refuseConnect(request: IncomingMessage, socket: Socket): void {
    this.#whenItsTurn(socket, this.#admit(request), (caller) => {
      const error = caller.refusal ?? new AppError("METHOD_NOT_ALLOWED");
      this.#answer(socket, { caller, error, headers: { allow: everyMethod } });
    });
  }

  /** Hands a request for another protocol to the stream, or refuses it. */
  upgrade(asked: Pick<Upgrade, "request" | "socket" | "head">): void {
    const { request, socket } = asked;
    this.#whenItsTurn(socket, this.#admit(request), (caller) => {
      const requestId = requestIdOf(request);
      const refuse = (error: AppError) => this.#answer(socket, { caller, error, requestId });
      const hostFault = hostFaultOf(request);
      if (caller.refusal === null && hostFault !== null) return refuse(invalidHost(hostFault));
      this.#parts.stream?.take({ ...asked, caller, requestId, refuse });
    });
  }

  #admit(request: IncomingMessage): Awaitable<Caller> {
    return this.#parts.admission.admit(request, "optional");
  }

  /**
   * Goes on once the caller is known and the responses to earlier requests on the connection are sent: immediately when
   * that is so. Meanwhile an error of the socket, which Node has released, would end the process.
   */
  #whenItsTurn(
    socket: Socket,
    admitted: Awaitable<Caller>,
    proceed: (caller: Caller) => void,
  ): void {
    if (!(admitted instanceof Promise) && !this.pending.has(socket)) return proceed(admitted);
    const destroy = () => void socket.destroy();
    socket.on("error", destroy);
    void whenKnown(admitted, async (caller) => {
      await this.pending.sent(socket);
      socket.off("error", destroy);
      proceed(caller);
    });
  }

  #answer(socket: Socket, answer: SocketAnswer): void {
    if (this.pending.hasBegun(socket)) socket.destroy();
    else answerOnSocket(socket, answer);
    const { code } = answer.error;
    const { status } = errorTable[code];
    const durationMs = null;
    this.#parts.observe?.({ method: "?", route: "malformed", status, code, durationMs });
  }
}

/** Why a request without one plain host is refused. */
export function invalidHost(issue: string): AppError {
  return invalid("host", issue);
}

/** Why Node's parser gave up, for the client. */
function parserError(code: string | undefined): AppError {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return new AppError("VALIDATION_ERROR", "The headers are too large");
    case invalidTarget:
      return new AppError(
        "VALIDATION_ERROR",
        "The URL has characters that must be percent-encoded as UTF-8",
      );
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new AppError("VALIDATION_ERROR", "The request came too slowly");
    default:
      return new AppError("VALIDATION_ERROR", "This is not valid HTTP");
  }
}

/** Answers on a bare socket, with the headers and shape of every other error, and closes it. */
function answerOnSocket(socket: Socket, answer: SocketAnswer): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  // Node has released sockets that ask for another protocol: an error unheard would end us.
  socket.on("error", () => socket.destroy());
  const requestId = answer.requestId ?? randomUUID();
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
