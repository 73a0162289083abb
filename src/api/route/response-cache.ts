/**
 * Responses cached as bytes until a fact that they depend on changes. The request id and the freshness are inserted
 * when a response is sent.
 */
import { hash } from "node:crypto";
import type { Access } from "../../access/admission.ts";
import { webLimits } from "../../base/config/limits.ts";
import type { Freshness } from "../../rows/freshness.ts";
import { PackableBytes, packedFromBytes } from "./gzip.ts";

/** A response without request id and freshness, which are inserted between `head` and `tail`. */
export type CachedResponse = {
  readonly route: string;
  readonly access: Access;
  readonly cacheControl: string;
  readonly etag: string | null;
  /** The value of `Link`; `null` unless another page follows. */
  readonly link: string | null;
  /** A string when it is short: it is then sent in one write with the headers. */
  readonly head: string | PackableBytes;
  readonly headBytes: number;
  readonly tail: string;
  readonly policy: CachePolicy;
  /** Returns whether the response is still correct. */
  readonly isCurrent: () => boolean;
};

/** How long a response is cached, and how it is renewed. */
export type CachePolicy = {
  /** Called before the response is made. Returns a function that returns whether the response is still correct. */
  readonly watch: () => () => boolean;
  /** Makes the response from memory; `null` if memory lacks something, or for an error. Not used with an ETag. */
  readonly bodyNow?: () => AnswerBody | null;
};

/** A response body as a handler returns it. */
export type AnswerBody = {
  readonly data: unknown;
  readonly pagination?: { readonly has_more: boolean; readonly next_cursor: string | null };
  /** The fields of `meta` besides the request id and the freshness. */
  readonly meta?: object;
};

/** Data that is already written as JSON. */
export class WrittenJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Returns the parts of a response body as JSON, and the text that its ETag covers. */
export function getParts({ data, meta = {}, ...rest }: AnswerBody) {
  const dataText = data instanceof WrittenJson ? data.text : JSON.stringify(data);
  const restText = JSON.stringify(rest).slice(1, -1);
  const moreText = JSON.stringify(meta).slice(1, -1);
  const head = `{"data":${dataText},${restText === "" ? "" : `${restText},`}"meta":{"request_id":`;
  const headBytes = Buffer.byteLength(head);
  return {
    head: headBytes < packedFromBytes ? head : new PackableBytes(Buffer.from(head)),
    headBytes,
    tail: moreText === "" ? "}}" : `,${moreText}}}`,
    // Everything but freshness and cursors, which differ each time.
    tagged: `${dataText}${rest.pagination?.has_more ?? ""}${moreText}`,
  };
}

/** Returns the ETag. It is weak, because the same response can be sent with other freshness and cursors. */
export function getEtag(tagged: string): string {
  return `W/"${hash("sha256", tagged, "base64url").slice(0, 22)}"`;
}

/** Returns whether `If-None-Match` has the ETag (RFC 9110, 13.1.2: weak comparison). */
export function matchesEtag(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  const opaque = etag.slice(2);
  return ifNoneMatch.match(/"[^"]*"/g)?.includes(opaque) ?? false;
}

/** Returns the text after the head. Request ids need no escapes in JSON. */
export function getEnd(
  requestId: string,
  { tail }: Pick<CachedResponse, "tail">,
  freshness: Freshness,
): string {
  const { first_block, first_timestamp_ms, indexed_block, indexed_seq } = freshness;
  const { head_block, finalized_block, lag_seconds } = freshness;
  return (
    `"${requestId}","first_block":${first_block},"first_timestamp_ms":${first_timestamp_ms},` +
    `"indexed_block":${indexed_block},"indexed_seq":${indexed_seq},` +
    `"head_block":${head_block},"finalized_block":${finalized_block},"lag_seconds":${lag_seconds}${tail}`
  );
}

/**
 * The newest responses by exact request target, up to `cachedResponseBytesMax`. A long response is cached at the
 * second request only. One that is not requested again would evict others, which the garbage collector then has to
 * free.
 */
export class ResponseCache {
  readonly #answers = new Map<string, CachedResponse>();
  readonly #recentRequests = new RecentRequests();
  #bytes = 0;

  /** Returns the cached response to a request target, current or not; `null` if there is none. */
  get(target: string): CachedResponse | null {
    return this.#answers.get(target) ?? null;
  }

  /** Caches a response in place of the previous one, unless it is long and new. */
  put(target: string, answer: CachedResponse): void {
    this.#forget(target);
    if (typeof answer.head !== "string" && !this.#recentRequests.isRepeat(target)) return;
    this.#answers.set(target, answer);
    this.#bytes += getCost(target, answer);
    for (const oldest of this.#answers.keys()) {
      if (this.#bytes <= webLimits.cachedResponseBytesMax) break;
      this.#forget(oldest);
    }
  }

  /** Returns a response if it is current, else a new one in its place; `null` if only the handler can make it. */
  renewed(target: string, answer: CachedResponse): CachedResponse | null {
    if (answer.isCurrent()) return answer;
    try {
      const { policy, etag } = answer;
      if (etag !== null) return null;
      // Watch before anything is read, as for every response.
      const isCurrent = policy.watch();
      const body = policy.bodyNow?.() ?? null;
      if (body === null) return null;
      const { head, headBytes, tail } = getParts(body);
      const renewed = { ...answer, head, headBytes, tail, isCurrent };
      this.put(target, renewed);
      return renewed;
    } catch {
      // The same error occurs again in the handler, and is then sent.
      return null;
    }
  }

  #forget(target: string): void {
    const existing = this.#answers.get(target);
    if (existing === undefined) return;
    this.#answers.delete(target);
    this.#bytes -= getCost(target, existing);
  }
}

/**
 * Remembers which keys were requested recently. A response that was cached at its first request would be copied by
 * the next garbage collections. Each of these then stops the process for 10 to 25 ms.
 */
export class RecentRequests {
  #newest = new Set<string>();
  #older = new Set<string>();

  /** Returns whether `key` was requested before, and remembers it. */
  isRepeat(key: string): boolean {
    const isKnown = this.#newest.has(key) || this.#older.has(key);
    this.#newest.add(key);
    if (this.#newest.size >= webLimits.recentRequestsMax) {
      this.#older = this.#newest;
      this.#newest = new Set();
    }
    return isKnown;
  }
}

/** The approximate size of an entry without its texts. */
const entryBytes = 500;

/** Returns the memory that a response can come to use: gzip makes JSON at most half as long. */
function getCost(target: string, { head, headBytes }: CachedResponse): number {
  const packedBytes = typeof head === "string" ? 0 : headBytes / 2;
  return entryBytes + target.length + headBytes + packedBytes;
}

/** Returns whether a result gets `meta`, rather than being a stream, a text or a bare object. */
export function isAnswerBody(body: unknown): body is AnswerBody {
  return typeof body === "object" && body !== null && "data" in body;
}
