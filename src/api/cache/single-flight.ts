import { Readable } from "node:stream";
import type { Freshness } from "../../rows/freshness.ts";
import type { Exchange } from "../http/exchange.ts";
import { acceptsGzip, bodyFor, PackableBytes, packedFromBytes } from "../http/gzip.ts";
import type { Route } from "../http/route.ts";
import {
  type AnswerBody,
  type CachedResponse,
  type CachePolicy,
  endOf,
  etagOf,
  isAnswerBody,
  matchesEtag,
  partsOf,
  type ResponseCache,
} from "./response-cache.ts";

/** A response that can be sent to all clients that request the same at the same time. */
type Made = Pick<CachedResponse, "head" | "tail" | "etag" | "cacheControl">;

/** A response that is being made. */
type Making = {
  /** Returns whether nothing has changed since its start. */
  readonly isCurrent: () => boolean;
  /** `null` if it failed, or if its result cannot be shared. */
  readonly made: Promise<Made | null>;
};

/** Makes responses. A cacheable one is made once for all clients that request the same at the same time. */
export class SingleFlight {
  readonly #cache: ResponseCache;
  readonly #freshness: () => Freshness;
  readonly #making = new Map<string, Making>();

  constructor(cache: ResponseCache, freshness: () => Freshness) {
    this.#cache = cache;
    this.#freshness = freshness;
  }

  /** Returns the response of a route, in an encoding that the request accepts. */
  async answer(route: Route, exchange: Exchange): Promise<unknown> {
    const { request, reply } = exchange;
    const { cachePolicyOf } = route;
    // Read the freshness first: a response must not claim to cover what is indexed while it is made.
    const fresh = this.#freshness();
    if (cachePolicyOf === undefined || request.method !== "GET") {
      const body = await route.handler(request, reply);
      if (!isAnswerBody(body)) return body;
      return report(madeOf(route, body, exchange), exchange, fresh);
    }
    const target = request.raw.url ?? "";
    const cached = this.#cache.get(target);
    // The fast path has already sent it unless it must be compressed first.
    if (cached?.isCurrent()) return report(cached, exchange, fresh);
    const making = this.#making.get(target);
    // A response that is still current is as new as one that would be made for this request.
    const made = making?.isCurrent() === true ? await making.made : null;
    return made === null
      ? this.#make(route, exchange, { policy: cachePolicyOf(request), fresh })
      : report(made, exchange, fresh);
  }

  async #make(
    route: Route,
    exchange: Exchange,
    { policy, fresh }: { readonly policy: CachePolicy; readonly fresh: Freshness },
  ): Promise<unknown> {
    const { request, reply } = exchange;
    const target = request.raw.url ?? "";
    const isCurrent = policy.watch();
    const { promise, resolve } = Promise.withResolvers<Made | null>();
    const making = { isCurrent, made: promise };
    this.#making.set(target, making);
    try {
      const body = await route.handler(request, reply);
      if (!isAnswerBody(body)) return body;
      const sent = madeOf(route, body, exchange);
      const { path, access } = route;
      const contentType = String(reply.getHeader("content-type"));
      const response = { ...sent, route: path, access, contentType, policy, isCurrent };
      const { head } = this.#cache.put(target, response);
      const made = { ...sent, head };
      resolve(made);
      return report(made, exchange, fresh);
    } finally {
      resolve(null);
      if (this.#making.get(target) === making) this.#making.delete(target);
    }
  }
}

function madeOf(
  { isTagged }: Route,
  body: AnswerBody,
  { reply }: Exchange,
): Made & { readonly head: string } {
  const parts = partsOf(body);
  const { head, tail } = parts;
  const etag = isTagged?.(body) ? etagOf(parts) : null;
  return { head, tail, etag, cacheControl: String(reply.getHeader("cache-control")) };
}

function report(made: Made, exchange: Exchange, fresh: Freshness): unknown {
  const { request, reply } = exchange;
  const { etag, cacheControl } = made;
  reply.header("cache-control", cacheControl);
  if (etag !== null) reply.header("etag", etag);
  if (etag === null || !matchesEtag(etag, request.headers["if-none-match"]))
    return wholeOf(made, exchange, fresh);
  reply.code(304).removeHeader("content-type");
  // Without a body Fastify would send `Content-Length: 0` for HEAD, which is not the length of GET (RFC 9110, 8.6).
  return request.method === "HEAD" ? Readable.from([]) : reply.send();
}

/** Returns the whole body; a long one is compressed for a client that accepts gzip. */
function wholeOf(made: Made, exchange: Exchange, fresh: Freshness): string | Promise<Buffer> {
  const { head } = made;
  const { id, headers } = exchange.request;
  const end = endOf(id, made, fresh);
  if (typeof head !== "string") return bodyFor(exchange, head, end);
  if (head.length < packedFromBytes || !acceptsGzip(headers)) return head + end;
  return bodyFor(exchange, new PackableBytes(Buffer.from(head)), end);
}
