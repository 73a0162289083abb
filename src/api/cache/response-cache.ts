/**
 * Responses cached as bytes until a fact that they depend on changes. The request id and the freshness are inserted
 * when a response is sent.
 */
import { hash } from "node:crypto";
import type { Access } from "../../access/admission.ts";
import { webLimits } from "../../base/config/limits.ts";
import { RecentlyAsked } from "../../base/recently-asked.ts";
import type { Freshness } from "../../rows/freshness.ts";
import { PackableBytes, packedFromBytes } from "../http/gzip.ts";

/** A response without request id and freshness, which go between `head` and `tail`. */
export type CachedResponse = {
  readonly route: string;
  readonly access: Access;
  readonly contentType: string;
  readonly cacheControl: string;
  readonly etag: string | null;
  /** Text while it is short, which goes out in one piece with its headers. */
  readonly head: string | PackableBytes;
  readonly headBytes: number;
  /** Latin-1 where that is the same bytes, because it is written faster. */
  readonly encoding: "latin1" | "utf8";
  readonly tail: string;
  readonly policy: CachePolicy;
  /** Whether it is still the answer. */
  readonly isCurrent: () => boolean;
};

/** How long the answer to a request is cached, and how it is made again. */
export type CachePolicy = {
  /** Called before the answer is made; what it returns says whether that is still the answer. */
  readonly watch: () => () => boolean;
  /** The answer from memory; `null` where memory lacks something, or for an error. Not for tagged answers. */
  readonly bodyNow?: () => AnswerBody | null;
};

/** An answer as routes give it. */
export type AnswerBody = {
  readonly data: unknown;
  readonly pagination?: { readonly has_more: boolean };
  /** What `meta` has besides the request id and the freshness. */
  readonly meta?: object;
};

/** Data that is JSON already. */
export class WrittenJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** An answer in parts of JSON. */
export type AnswerParts = Pick<CachedResponse, "tail"> & {
  /** Ends where the request id follows. */
  readonly head: string;
  /** What `etag` covers: everything but freshness and cursors, which differ each time. */
  readonly tagged: string;
};

/** The parts of an answer. */
export function partsOf({ data, meta = {}, ...rest }: AnswerBody): AnswerParts {
  const dataText = data instanceof WrittenJson ? data.text : JSON.stringify(data);
  const restText = JSON.stringify(rest).slice(1, -1);
  const moreText = JSON.stringify(meta).slice(1, -1);
  return {
    head: `{"data":${dataText},${restText === "" ? "" : `${restText},`}"meta":{"request_id":`,
    tail: moreText === "" ? "}}" : `,${moreText}}}`,
    tagged: `${dataText}${rest.pagination?.has_more ?? ""}${moreText}`,
  };
}

/** The weak tag of an answer: sent again it may differ in freshness and in how cursors are written. */
export function etagOf({ tagged }: AnswerParts): string {
  return `W/"${hash("sha256", tagged, "base64url").slice(0, 22)}"`;
}

/** Whether the client has what the tag names (RFC 9110, 13.1.2: weak comparison). */
export function matchesEtag(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  const opaque = etag.slice(2);
  return ifNoneMatch.match(/"[^"]*"/g)?.includes(opaque) ?? false;
}

/** The text behind the head, as of now. Request ids are harmless in JSON. */
export function endOf(
  requestId: string,
  { tail }: Pick<CachedResponse, "tail">,
  freshness: Freshness,
): string {
  const { indexed_block, indexed_seq, head_block, finalized_block, lag_seconds } = freshness;
  return (
    `"${requestId}","indexed_block":${indexed_block},"indexed_seq":${indexed_seq},` +
    `"head_block":${head_block},"finalized_block":${finalized_block},"lag_seconds":${lag_seconds}${tail}`
  );
}

/**
 * The newest answers by what was asked, word for word; within a bound of bytes. Long ones are cached when
 * they are asked for again: one asked for once costs the time it takes to collect what it pushed out.
 */
export class ResponseCache {
  readonly #answers = new Map<string, CachedResponse>();
  readonly #asked = new RecentlyAsked();
  #bytes = 0;

  /** The last answer to a request target, current or not; `null` when it is not cached. */
  get(target: string): CachedResponse | null {
    return this.#answers.get(target) ?? null;
  }

  /** Caches an answer in place of the one before, if it is worth that; returns it. The oldest ones are evicted. */
  put(
    target: string,
    answer: Omit<CachedResponse, "headBytes" | "encoding"> & {
      readonly head: string;
    },
  ): CachedResponse {
    const headBytes = Buffer.byteLength(answer.head);
    this.#forget(target);
    const head =
      headBytes < packedFromBytes
        ? answer.head
        : new PackableBytes(Buffer.from(answer.head), {
            onPacked: () => this.#countPacked(target, cached),
          });
    const cached: CachedResponse = {
      ...answer,
      head,
      headBytes,
      encoding: isAscii(answer.head, headBytes) && isAscii(answer.tail) ? "latin1" : "utf8",
    };
    if (typeof head !== "string" && !this.#asked.ask(target)) return cached;
    this.#answers.set(target, cached);
    this.#bytes += costOf(target, cached);
    this.#makeRoom();
    return cached;
  }

  /** The answer as of now, in place of one that is not current; `null` where it takes its handler. */
  renew(target: string, answer: CachedResponse): CachedResponse | null {
    try {
      const { policy, etag } = answer;
      if (etag !== null) return null;
      // Before anything is read, as for every answer.
      const isCurrent = policy.watch();
      const body = policy.bodyNow?.() ?? null;
      if (body === null) return null;
      const { head, tail } = partsOf(body);
      return this.put(target, { ...answer, head, tail, isCurrent });
    } catch {
      // What fails here fails again on the long path, which answers with the error.
      return null;
    }
  }

  #countPacked(target: string, answer: CachedResponse): void {
    if (this.#answers.get(target) !== answer) return;
    this.#bytes += packedBytesOf(answer);
    this.#makeRoom();
  }

  #makeRoom(): void {
    for (const oldest of this.#answers.keys()) {
      if (this.#bytes <= webLimits.cachedResponseBytesMax) break;
      this.#forget(oldest);
    }
  }

  #forget(target: string): void {
    const known = this.#answers.get(target);
    if (known === undefined) return;
    this.#answers.delete(target);
    this.#bytes -= costOf(target, known);
  }
}

/** Only ASCII takes as many bytes in UTF-8 as it has characters. */
function isAscii(text: string, bytes = Buffer.byteLength(text)): boolean {
  return text.length === bytes;
}

/** An entry without its texts takes about this much. */
const entryBytes = 500;

function costOf(target: string, answer: CachedResponse): number {
  return entryBytes + target.length + answer.headBytes + packedBytesOf(answer);
}

function packedBytesOf({ head }: CachedResponse): number {
  return typeof head === "string" ? 0 : (head.packed?.bytes.length ?? 0);
}

/** Whether it is an answer with `meta`, rather than a stream, a text or a bare object. */
export function isAnswerBody(body: unknown): body is AnswerBody {
  return typeof body === "object" && body !== null && "data" in body;
}
