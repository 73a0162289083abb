import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { acceptsGzip, bodyFor, PackableBytes, packedFromBytes } from "../http/gzip.ts";
import type { Route } from "../http/route.ts";
import {
  type AnswerBody,
  type CachedResponse,
  endOf,
  etagOf,
  isAnswerBody,
  matchesEtag,
  partsOf,
  type ResponseCache,
  type Subject,
} from "./response-cache.ts";

/** An answer and what it says of its own freshness; anyone who asked the same at the same time gets it too. */
type Made = Pick<CachedResponse, "head" | "tail" | "etag" | "cacheControl" | "freshness"> & {
  readonly subject: Pick<Subject, "ageMs">;
};

/** An answer that is being made. */
type Making = {
  /** Whether nothing has changed since it was begun. */
  readonly isCurrent: () => boolean;
  /** `null` when nothing came of it that others could be sent. */
  readonly made: Promise<Made | null>;
};

/** What is kept with it. */
type Lasting = Pick<CachedResponse, "subject" | "freshness" | "isCurrent">;

type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply };

/** Makes tagged, row-by-row and cached answers, once for all requests of the same at the same time. */
export class SingleFlight {
  readonly #ready: ResponseCache;
  readonly #making = new Map<string, Making>();

  constructor(ready: ResponseCache) {
    this.#ready = ready;
  }

  /** The answer of the route, in the encoding that the request accepts. */
  async answer(route: Route, exchange: Exchange): Promise<unknown> {
    const { request } = exchange;
    const { kept } = route;
    if (kept === undefined || request.method !== "GET") {
      const body = await route.handler(request, exchange.reply);
      const subject = kept?.subjectOf(request) ?? {};
      return isAnswerBody(body)
        ? report(madeOf(route, { body, subject }, exchange), exchange)
        : body;
    }
    const target = request.raw.url ?? "";
    const ready = this.#ready.get(target);
    // The fast path sends it, unless it must be compressed first.
    if (ready?.isCurrent()) return report(ready, exchange);
    const making = this.#making.get(target);
    // What was current when this request came is no older than what would be read for it.
    const made = making?.isCurrent() === true ? await making.made : null;
    if (made !== null) return report(made, exchange);
    const { freshness } = kept;
    const subject = kept.subjectOf(request);
    // Asked before anything is read: what changes meanwhile must not pass for current.
    return this.#make(route, exchange, { freshness, subject, isCurrent: subject.lasts() });
  }

  async #make(route: Route, exchange: Exchange, lasting: Lasting): Promise<unknown> {
    const { request, reply } = exchange;
    const { subject, isCurrent } = lasting;
    const target = request.raw.url ?? "";
    const { promise, resolve } = Promise.withResolvers<Made | null>();
    const making = { isCurrent, made: promise };
    this.#making.set(target, making);
    try {
      const body = await route.handler(request, reply);
      if (!isAnswerBody(body)) return body;
      const sent = madeOf(route, { body, subject }, exchange);
      const { path, access } = route;
      const contentType = String(reply.getHeader("content-type"));
      const fixed = { route: path, access, contentType };
      const { head } = this.#ready.put(target, { ...sent, ...fixed, ...lasting });
      const made = { ...sent, head };
      resolve(made);
      return report(made, exchange);
    } finally {
      resolve(null);
      if (this.#making.get(target) === making) this.#making.delete(target);
    }
  }
}

function madeOf(
  { isTagged }: Route,
  { body, subject }: { readonly body: AnswerBody; readonly subject: Made["subject"] },
  { reply }: Exchange,
): Made & { readonly head: string } {
  const parts = partsOf(body, subject);
  const { head, tail } = parts;
  const etag = isTagged?.(body) ? etagOf(parts) : null;
  const cacheControl = String(reply.getHeader("cache-control"));
  const { request_id: _, ...freshness } = body.meta;
  return { head, tail, etag, cacheControl, subject, freshness: () => freshness };
}

function report(made: Made, exchange: Exchange): unknown {
  const { request, reply } = exchange;
  const { etag, cacheControl } = made;
  reply.header("cache-control", cacheControl);
  if (etag !== null) reply.header("etag", etag);
  if (etag === null || !matchesEtag(etag, request.headers["if-none-match"]))
    return wholeOf(made, exchange);
  reply.code(304).removeHeader("content-type");
  // For a HEAD without a body Fastify sends a length of 0, which is not that of the answer (RFC 9110, 8.6).
  return request.method === "HEAD" ? Readable.from([]) : reply.send();
}

/** Long ones packed for who takes them so. */
function wholeOf(made: Made, exchange: Exchange): string | Promise<Buffer> {
  const { head } = made;
  const { id, headers } = exchange.request;
  const end = endOf(id, made);
  if (typeof head !== "string") return bodyFor(exchange, head, end);
  if (head.length < packedFromBytes || !acceptsGzip(headers)) return head + end;
  return bodyFor(exchange, new PackableBytes(Buffer.from(head)), end);
}
