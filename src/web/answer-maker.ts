import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Meta } from "./meta.ts";
import {
  type AnswerBody,
  etagOf,
  isAnswerBody,
  isHeld,
  partsOf,
  type ReadyAnswer,
  type ReadyAnswers,
  wholeOf,
} from "./ready-answers.ts";
import type { Kept, Route } from "./route.ts";

/** An answer and what it says of its own freshness; whoever asked the same at the same time gets it too. */
type Made = Pick<ReadyAnswer, "head" | "tail" | "etag" | "cacheControl" | "ageMs"> & {
  readonly meta: Meta;
};

/** An answer that is being made. */
type Making = {
  /** Whether nothing has changed since it was begun. */
  readonly isCurrent: () => boolean;
  /** `null` when nothing came of it that others could be told. */
  readonly made: Promise<Made | null>;
};

/** For how long it is kept. */
type Lasting = { readonly kept: Kept; readonly isCurrent: () => boolean };

type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply };

/**
 * Makes the answers that are tagged, written row by row, or kept for those who ask the same. When
 * popular ones have changed, many ask for the same at once: it is made once for all of them.
 */
export class AnswerMaker {
  readonly #ready: ReadyAnswers;
  readonly #making = new Map<string, Making>();

  constructor(ready: ReadyAnswers) {
    this.#ready = ready;
  }

  /** What the route answers, told as the request asks for it. */
  async answer(route: Route, exchange: Exchange): Promise<unknown> {
    const { request } = exchange;
    const { kept } = route;
    if (kept === undefined || request.method !== "GET") {
      const body = await route.handler(request, exchange.reply);
      return isAnswerBody(body) ? tell(madeOf(route, body, exchange), exchange) : body;
    }
    const making = this.#making.get(request.raw.url ?? "");
    // What was current when this request came is no older than what would be read for it.
    const made = making?.isCurrent() === true ? await making.made : null;
    if (made !== null) return tell(made, exchange);
    // Asked before anything is read: what changes meanwhile must not pass for current.
    return this.#make(route, exchange, { kept, isCurrent: kept.lasts(request) });
  }

  async #make(route: Route, exchange: Exchange, { kept, isCurrent }: Lasting): Promise<unknown> {
    const { request, reply } = exchange;
    const target = request.raw.url ?? "";
    const { promise, resolve } = Promise.withResolvers<Made | null>();
    const making = { isCurrent, made: promise };
    this.#making.set(target, making);
    try {
      const body = await route.handler(request, reply);
      if (!isAnswerBody(body)) return body;
      const { meta, ...told } = madeOf(route, body, exchange);
      const { path, access } = route;
      const contentType = String(reply.getHeader("content-type"));
      const lasting = { freshness: kept.freshness, isCurrent };
      const fixed = { route: path, access, contentType };
      const made = { ...this.#ready.put(target, { ...told, ...fixed, ...lasting }), meta };
      resolve(made);
      return tell(made, exchange);
    } finally {
      resolve(null);
      if (this.#making.get(target) === making) this.#making.delete(target);
    }
  }
}

function madeOf(
  { kept, isTagged }: Route,
  body: AnswerBody,
  { request, reply }: Exchange,
): Made & { readonly head: string } {
  const ageMs = kept?.ageMs?.(request) ?? null;
  const parts = partsOf(body, ageMs !== null);
  const { head, tail } = parts;
  const etag = isTagged?.(body) ? etagOf(parts) : null;
  const cacheControl = String(reply.getHeader("cache-control"));
  return { head, tail, etag, cacheControl, ageMs, meta: body.meta };
}

function tell(made: Made, { request, reply }: Exchange): unknown {
  const { etag, cacheControl, ageMs, meta } = made;
  reply.header("cache-control", cacheControl);
  if (etag !== null) reply.header("etag", etag);
  if (etag === null || !isHeld(etag, request.headers["if-none-match"]))
    return wholeOf(made, { ...meta, request_id: request.id }, ageMs);
  reply.code(304).removeHeader("content-type");
  // To a HEAD without a body Fastify tells a length of 0, which is not that of the answer (RFC 9110, 8.6).
  return request.method === "HEAD" ? Readable.from([]) : reply.send();
}
