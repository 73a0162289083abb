import type { IncomingMessage, ServerResponse } from "node:http";
import type { Admission, Caller } from "../../access/admission.ts";
import type { Awaitable } from "../../base/time/awaitable.ts";
import type { Freshness } from "../../rows/freshness.ts";
import { answerHeaders, corsHeaders } from "../http/answer-headers.ts";
import { acceptsGzip, endOfGzip, type PackedStart } from "../http/gzip.ts";
import { hasBody, hostFaultOf, requestIdOf } from "../http/request-head.ts";
import type { Answered } from "../metrics/request-meter.ts";
import { type CachedResponse, endOf, matchesEtag, type ResponseCache } from "./response-cache.ts";

/**
 * Admits and answers requests before Fastify when the response is cached or can be made from memory. All other requests
 * go through Fastify, and are not counted again there.
 */
export class FastPath {
  readonly #cache: ResponseCache;
  readonly #freshness: () => Freshness;
  readonly #admission: Admission;
  readonly #corsOrigins: ReadonlySet<string>;
  readonly #corsOfNone: Cors;
  readonly #onAnswered: (answered: Answered) => void;
  readonly #handedOn = new WeakMap<IncomingMessage, Caller>();

  constructor(parts: {
    cache: ResponseCache;
    freshness: () => Freshness;
    admission: Admission;
    corsOrigins: ReadonlySet<string>;
    onAnswered: (answered: Answered) => void;
  }) {
    this.#cache = parts.cache;
    this.#freshness = parts.freshness;
    this.#admission = parts.admission;
    this.#corsOrigins = parts.corsOrigins;
    this.#corsOfNone = this.#corsOf(undefined);
    this.#onAnswered = parts.onAnswered;
  }

  /** Returns the caller of a request that was counted here but goes through Fastify; `undefined` for all others. */
  callerOf(request: IncomingMessage): Caller | undefined {
    return this.#handedOn.get(request);
  }

  /** Returns whether the request has been answered. Otherwise it is untouched. Synchronous if the caller is known. */
  take(request: IncomingMessage, response: ServerResponse): Awaitable<boolean> {
    // Without a socket, an earlier response on the connection is still being sent. Responses keep the request order.
    if (request.method !== "GET" || response.socket === null) return false;
    const cached = this.#cache.get(request.url ?? "");
    if (cached === null || !isPlain(request)) return false;
    const isPacked = typeof cached.head !== "string" && acceptsGzip(request.headers);
    if (!canBeSentNow(cached, isPacked)) return false;
    const caller = this.#admission.admit(request, cached.access);
    const exchange = { request, response, isPacked };
    if (!(caller instanceof Promise)) return this.#answer({ ...exchange, cached, caller });
    return caller.then((known) => {
      const newest = this.#cache.get(request.url ?? "") ?? cached;
      return this.#answer({ ...exchange, cached: newest, caller: known });
    });
  }

  #answer({ request, response, isPacked, cached, caller }: Admitted): boolean {
    // No response is made for a refused caller.
    const answer = caller.refusal === null ? this.#currentOf(request.url ?? "", cached) : null;
    if (answer === null) {
      this.#handedOn.set(request, caller);
      return false;
    }
    const requestId = requestIdOf(request);
    const { origin } = request.headers;
    const cors = origin === undefined ? this.#corsOfNone : this.#corsOf(origin);
    const { etag, route } = answer;
    const status = etag !== null && matchesEtag(etag, request.headers["if-none-match"]) ? 304 : 200;
    const packed = isPacked && typeof answer.head !== "string" ? answer.head.packed : null;
    const sent = { answer, packed, caller, requestId, cors };
    if (status === 304) response.writeHead(304, headersOf(sent)).end();
    else this.#send(response, sent);
    this.#onAnswered({ method: "GET", route, status, code: null, requestId, caller });
    return true;
  }

  #currentOf(target: string, cached: CachedResponse): CachedResponse | null {
    return cached.isCurrent() ? cached : this.#cache.renew(target, cached);
  }

  #send(response: ServerResponse, sent: Sent): void {
    const { answer, packed, requestId } = sent;
    const { head, headBytes } = answer;
    const text = endOf(requestId, answer, this.#freshness());
    if (packed !== null) {
      const end = endOfGzip(packed, text);
      this.#sendHead(response, sent, packed.bytes.length + end.length);
      response.write(packed.bytes);
      response.end(end);
      return;
    }
    this.#sendHead(response, sent, headBytes + Buffer.byteLength(text));
    if (typeof head !== "string") response.write(head.bytes);
    response.end(typeof head === "string" ? head + text : text);
  }

  #sendHead(response: ServerResponse, sent: Sent, length: number): void {
    const { answer, packed } = sent;
    const headers = headersOf(sent);
    if (packed !== null) headers["content-encoding"] = "gzip";
    headers["content-type"] = answer.contentType;
    headers["content-length"] = length;
    response.writeHead(200, headers);
  }

  #corsOf(origin: string | undefined): Cors {
    return corsHeaders(origin, this.#corsOrigins);
  }
}

/** An admitted request and the response to send. */
type Admitted = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly cached: CachedResponse;
  readonly caller: Caller;
  /** Whether a long response is sent compressed, if it is compressed already. */
  readonly isPacked: boolean;
};

/** A cached response, and the parts that belong to one request. */
type Sent = {
  readonly answer: CachedResponse;
  /** The compressed start, for a client that accepts gzip; otherwise `null`. */
  readonly packed: PackedStart | null;
  readonly caller: Caller;
  readonly requestId: string;
  readonly cors: Cors;
};

type Cors = Readonly<Record<string, string>>;

function headersOf({ answer, caller, requestId, cors }: Sent): Record<string, string | number> {
  const { etag, cacheControl } = answer;
  const headers = { ...answerHeaders(caller, requestId), ...cors };
  headers["cache-control"] = cacheControl;
  if (etag !== null) headers["etag"] = etag;
  return headers;
}

/** Returns whether a response is current or can be renewed here. Fastify sends one that must be compressed first. */
function canBeSentNow(cached: CachedResponse, isPacked: boolean): boolean {
  const isCurrent = cached.isCurrent();
  if (!isCurrent && cached.policy.bodyNow === undefined) return false;
  const { head } = cached;
  if (typeof head === "string" || !isPacked) return true;
  return (isCurrent && head.packed !== null) || !head.canBePackedSoon;
}

/** Returns whether a request has one `Host`, as HTTP/1.1 demands, and no body. Fastify answers all others. */
function isPlain(request: IncomingMessage): boolean {
  return hostFaultOf(request) === null && !hasBody(request);
}
