import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Admission, Caller } from "./admission.ts";
import { answerHeaders, corsHeaders } from "./answer-headers.ts";
import { isHeld, middleOf, type ReadyAnswer, type ReadyAnswers } from "./ready-answers.ts";

/** What was answered, for who counts. */
type Answered = {
  readonly method: "GET";
  readonly route: string;
  readonly status: number;
  readonly requestId: string;
  readonly caller: Caller;
};

/**
 * In front of the framework: requests whose answer is ready are admitted as all others are, and
 * answered. Everything else, refusals included, goes the whole way; who was admitted here is not
 * counted again there.
 */
export class FastLane {
  readonly #ready: ReadyAnswers;
  readonly #admission: Admission;
  readonly #corsOrigins: ReadonlySet<string>;
  readonly #onAnswered: (answered: Answered) => void;
  readonly #refused = new WeakMap<IncomingMessage, Caller>();

  constructor(parts: {
    ready: ReadyAnswers;
    admission: Admission;
    corsOrigins: ReadonlySet<string>;
    onAnswered: (answered: Answered) => void;
  }) {
    this.#ready = parts.ready;
    this.#admission = parts.admission;
    this.#corsOrigins = parts.corsOrigins;
    this.#onAnswered = parts.onAnswered;
  }

  /** The caller of a request that was admitted here and refused; `undefined` for all others. */
  refusedCallerOf(request: IncomingMessage): Caller | undefined {
    return this.#refused.get(request);
  }

  /** Whether the request has been answered; it is untouched if not. */
  take(request: IncomingMessage, response: ServerResponse): boolean {
    if (request.method !== "GET") return false;
    const answer = this.#ready.get(request.url ?? "");
    if (answer === null || !isPlain(request)) return false;
    const caller = this.#admission.admit(request, answer.access);
    if (caller.refusal !== null) {
      this.#refused.set(request, caller);
      return false;
    }
    const requestId = requestIdOf(request);
    const headers: Record<string, string | number> = {
      ...answerHeaders(caller, requestId),
      ...corsHeaders(request.headers.origin, this.#corsOrigins),
      "cache-control": answer.cacheControl,
    };
    const isKnown = answer.etag !== null && isHeld(answer.etag, request.headers["if-none-match"]);
    const status = isKnown ? 304 : 200;
    if (answer.etag !== null) headers["etag"] = answer.etag;
    if (isKnown) response.writeHead(304, headers).end();
    else send(response, { answer, headers, requestId });
    this.#onAnswered({ method: "GET", route: answer.route, status, requestId, caller });
    return true;
  }
}

type Sent = { answer: ReadyAnswer; headers: Record<string, string | number>; requestId: string };

function send(response: ServerResponse, { answer, headers, requestId }: Sent): void {
  const { head, headBytes, tail, encoding } = answer;
  const middle = middleOf(requestId, answer);
  headers["content-type"] = answer.contentType;
  headers["content-length"] = headBytes + middle.length + Buffer.byteLength(tail);
  response.writeHead(200, headers);
  if (typeof head === "string") {
    response.end(head + middle + tail, encoding);
    return;
  }
  response.write(head);
  response.end(middle + tail, encoding);
}

/** The client's own id when it is harmless in a header and in a log, else a fresh one. */
export function requestIdOf(request: Pick<IncomingMessage, "headers">): string {
  const given = request.headers["x-request-id"];
  return typeof given === "string" && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : randomUUID();
}

/** With a host, as HTTP/1.1 demands, and without a body; what is not plain is judged elsewhere. */
function isPlain(request: IncomingMessage): boolean {
  return !isHostMissing(request) && !hasBody(request);
}

/** Whether `Host` is missing where HTTP demands it. */
export function isHostMissing(request: IncomingMessage): boolean {
  return request.headers.host === undefined && request.httpVersion === "1.1";
}

/** Whether a body follows, as its headers tell. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
}
