import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import type { Freshness } from "../../rows/freshness.ts";
import { bodyFor, PackableBytes } from "../route/gzip.ts";
import { linkToNext } from "../route/list-answer.ts";
import {
  type AnswerBody,
  type CachedResponse,
  type CachePolicy,
  getEnd,
  getEtag,
  getParts,
  isAnswerBody,
  matchesEtag,
  type ResponseCache,
} from "../route/response-cache.ts";
import type { Route } from "../route/route.ts";

type MadeResponse = Pick<
  CachedResponse,
  "head" | "headBytes" | "tail" | "etag" | "link" | "cacheControl"
>;

type Flight = {
  /** Returns whether nothing has changed since its start. */
  readonly isCurrent: () => boolean;
  /** `null` if it failed, or if its result cannot be shared. */
  readonly response: Promise<CachedResponse | null>;
};

/** Makes responses. A cacheable one is made once for all clients that request the same at the same time. */
export class SingleFlight {
  readonly #cache: ResponseCache;
  readonly #freshness: () => Freshness;
  readonly #flights = new Map<string, Flight>();

  constructor(cache: ResponseCache, freshness: () => Freshness) {
    this.#cache = cache;
    this.#freshness = freshness;
  }

  /** Returns the response of a route, in an encoding that the request accepts. */
  async answer(route: Route, reply: FastifyReply): Promise<unknown> {
    const { request } = reply;
    const { getCachePolicy } = route;
    // Read the freshness first: a response must not claim to cover what is indexed while it is made.
    const fresh = this.#freshness();
    if (getCachePolicy === undefined || request.method !== "GET") {
      const body = await route.handler(request, reply);
      if (body instanceof PackableBytes) return bodyFor(reply, body);
      if (!isAnswerBody(body)) return body;
      return replyWith(getResponse(route, body, reply), reply, fresh);
    }
    const target = request.raw.url ?? "";
    const cached = this.#cache.get(target);
    // The fast path has already sent it unless it must be compressed first.
    if (cached?.isCurrent()) return replyWith(cached, reply, fresh);
    const flight = this.#flights.get(target);
    // A response that is still current is as new as one that would be made for this request.
    const shared = flight?.isCurrent() === true ? await flight.response : null;
    return shared === null
      ? this.#make(route, reply, { policy: getCachePolicy(request), fresh })
      : replyWith(shared, reply, fresh);
  }

  async #make(
    route: Route,
    reply: FastifyReply,
    { policy, fresh }: { readonly policy: CachePolicy; readonly fresh: Freshness },
  ): Promise<unknown> {
    const { request } = reply;
    const target = request.raw.url ?? "";
    const isCurrent = policy.watch();
    const { promise, resolve } = Promise.withResolvers<CachedResponse | null>();
    const flight = { isCurrent, response: promise };
    this.#flights.set(target, flight);
    try {
      const body = await route.handler(request, reply);
      if (!isAnswerBody(body)) return body;
      const made = getResponse(route, body, reply);
      const { path, access } = route;
      const response = { ...made, route: path, access, policy, isCurrent };
      this.#cache.put(target, response);
      resolve(response);
      return replyWith(response, reply, fresh);
    } finally {
      resolve(null);
      if (this.#flights.get(target) === flight) this.#flights.delete(target);
    }
  }
}

function getResponse({ isTagged }: Route, body: AnswerBody, reply: FastifyReply): MadeResponse {
  const { tagged, ...parts } = getParts(body);
  const etag = isTagged?.(body) ? getEtag(tagged) : null;
  const cursor = body.pagination?.next_cursor ?? null;
  const link = cursor === null ? null : linkToNext(reply.request.raw.url ?? "", cursor);
  return { ...parts, etag, link, cacheControl: String(reply.getHeader("cache-control")) };
}

function replyWith(response: MadeResponse, reply: FastifyReply, fresh: Freshness): unknown {
  const { request } = reply;
  const { etag, link, cacheControl } = response;
  reply.header("cache-control", cacheControl);
  if (etag !== null) reply.header("etag", etag);
  if (link !== null) reply.header("link", link);
  if (etag === null || !matchesEtag(etag, request.headers["if-none-match"])) {
    const { head } = response;
    const end = getEnd(request.id, response, fresh);
    return typeof head === "string" ? head + end : bodyFor(reply, head, end);
  }
  reply.code(304).removeHeader("content-type");
  // Without a body Fastify would send `Content-Length: 0` for HEAD, which is not the length of GET (RFC 9110, 8.6).
  return request.method === "HEAD" ? Readable.from([]) : reply.send();
}
