import type { IncomingMessage, ServerResponse } from "node:http";
import type { Admission, Caller } from "../../access/admission.ts";
import type { Awaitable } from "../../base/time/awaitable.ts";
import type { Freshness } from "../../rows/freshness.ts";
import { answerHeaders, corsHeaders } from "../http/answer-headers.ts";
import { findHostFault, getRequestId, hasBody } from "../http/request-head.ts";
import type { Answered } from "../metrics/request-meter.ts";
import { jsonContentType } from "../route/error-answer.ts";
import { acceptsGzip, endOfGzip } from "../route/gzip.ts";
import {
  type CachedResponse,
  getEnd,
  matchesEtag,
  type ResponseCache,
} from "../route/response-cache.ts";

type FastPathParts = {
  readonly cache: ResponseCache;
  readonly freshness: () => Freshness;
  readonly admission: Admission;
  readonly corsOrigins: ReadonlySet<string>;
  readonly onAnswered: (answered: Answered) => void;
};

/**
 * Admits and answers requests before Fastify when the response is cached or can be made from memory. All other requests
 * go through Fastify, and are not counted again there.
 */
export class FastPath {
  readonly #parts: FastPathParts;
  readonly #handedOn = new WeakMap<IncomingMessage, Caller>();

  constructor(parts: FastPathParts) {
    this.#parts = parts;
  }

  /** Returns the caller of a request that was counted here but goes through Fastify; `undefined` for all others. */
  getCaller(request: IncomingMessage): Caller | undefined {
    return this.#handedOn.get(request);
  }

  /** Returns whether the request has been answered. Otherwise it is untouched. Synchronous if the caller is known. */
  tryAnswer(request: IncomingMessage, response: ServerResponse): Awaitable<boolean> {
    // Without a socket, an earlier response on the connection is still being sent. Responses keep the request order.
    if (request.method !== "GET" || response.socket === null) return false;
    const { cache, admission } = this.#parts;
    const cached = cache.get(request.url ?? "");
    if (cached === null || !isPlain(request)) return false;
    const isPacked = typeof cached.head !== "string" && acceptsGzip(request.headers);
    if (!canBeSentNow(cached, isPacked)) return false;
    const caller = admission.admit(request, cached.access);
    const exchange = { request, response, isPacked };
    if (!(caller instanceof Promise)) return this.#answer(exchange, cached, caller);
    return caller.then((admitted) => {
      const newest = cache.get(request.url ?? "") ?? cached;
      return this.#answer(exchange, newest, admitted);
    });
  }

  #answer(
    { request, response, isPacked }: Exchange,
    cached: CachedResponse,
    caller: Caller,
  ): boolean {
    const { cache, freshness, corsOrigins, onAnswered } = this.#parts;
    // No response is made for a refused caller.
    const answer = caller.refusal === null ? cache.renewed(request.url ?? "", cached) : null;
    if (answer === null) {
      this.#handedOn.set(request, caller);
      return false;
    }
    const requestId = getRequestId(request);
    const { etag, link, route, cacheControl } = answer;
    const headers: Headers = {
      ...answerHeaders(caller, requestId),
      ...corsHeaders(request.headers.origin, corsOrigins),
      "cache-control": cacheControl,
    };
    if (etag !== null) headers["etag"] = etag;
    if (link !== null) headers["link"] = link;
    const status = etag !== null && matchesEtag(etag, request.headers["if-none-match"]) ? 304 : 200;
    if (status === 304) response.writeHead(304, headers).end();
    else {
      const end = getEnd(requestId, answer, freshness());
      send(response, answer, { headers, end, isPacked });
    }
    onAnswered({ method: "GET", route, status, code: null, requestId, caller });
    return true;
  }
}

type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Whether a long response is sent compressed, if it is compressed already. */
  readonly isPacked: boolean;
};

type Headers = Record<string, string | number>;

/** Sends a cached response, followed by `end`. A short one is one write with its headers. */
function send(
  response: ServerResponse,
  { head, headBytes }: CachedResponse,
  { headers, end, isPacked }: { headers: Headers; end: string; isPacked: boolean },
): void {
  headers["content-type"] = jsonContentType;
  if (typeof head === "string") {
    headers["content-length"] = headBytes + Buffer.byteLength(end);
    response.writeHead(200, headers).end(head + end);
    return;
  }
  const packed = isPacked ? head.packed : null;
  if (packed !== null) headers["content-encoding"] = "gzip";
  const [start, rest] =
    packed === null ? [head.bytes, Buffer.from(end)] : [packed.bytes, endOfGzip(packed, end)];
  headers["content-length"] = start.length + rest.length;
  response.writeHead(200, headers).write(start);
  response.end(rest);
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
  return findHostFault(request) === null && !hasBody(request);
}
