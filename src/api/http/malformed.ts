import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Caller } from "../../access/admission.ts";
import { AppError } from "../../base/errors.ts";
import { answerHeaders } from "./answer-headers.ts";
import { errorAnswer } from "./error-answer.ts";

/** A refusal on a bare socket. */
export type SocketAnswer = {
  readonly caller: Caller;
  readonly error: AppError;
  /** Fresh unless given. */
  readonly requestId?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** A raw character in a request target, as careless clients send it. */
export const invalidTarget = "HPE_INVALID_URL";

/** Why Node's parser gave up, for the client. */
export function parserError(code: string | undefined): AppError {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return new AppError("VALIDATION_ERROR", { publicMessage: "The headers are too large" });
    case invalidTarget:
      return new AppError("VALIDATION_ERROR", {
        publicMessage: "The URL has characters that must be percent-encoded as UTF-8",
      });
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new AppError("VALIDATION_ERROR", { publicMessage: "The request came too slowly" });
    default:
      return new AppError("VALIDATION_ERROR", { publicMessage: "This is not valid HTTP" });
  }
}

/** Answers on a bare socket, with the headers and shape of every other error, and closes it. */
export function answerOnSocket(socket: Socket, answer: SocketAnswer): void {
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
