import { createHash } from "node:crypto";
import { extname } from "node:path";
import { Type } from "typebox";
import type { Exchange } from "../http/exchange.ts";
import { bodyFor, PackableBytes } from "../http/gzip.ts";

/** What the routes of all files for browsers have in common: they need no key. */
export const fileRoute = { access: "public", response: Type.String() } as const;

/** A file for browsers, packed as small as possible when it is first requested. */
export class StaticFile {
  readonly #contentType: string;
  readonly #policy: string;
  readonly #packable: PackableBytes;

  constructor(body: Buffer, contentType: string, policy: string) {
    this.#contentType = contentType;
    this.#policy = policy;
    this.#packable = new PackableBytes(body, { level: 9 });
  }

  /** The body of an answer, whose headers are set. */
  async answer(exchange: Exchange): Promise<Buffer> {
    exchange.reply.header("content-type", this.#contentType);
    exchange.reply.header("content-security-policy", this.#policy);
    return bodyFor(exchange, this.#packable);
  }
}

const contentTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
};

/** By the end of a file's name; `null` for what is not served. */
export function contentTypeOf(name: string): string | null {
  return contentTypes[extname(name)] ?? null;
}

/** Lets a page load what `sources` name, as directives, and nothing else. */
export function pagePolicy(sources: readonly string[]): string {
  return [
    "default-src 'none'",
    ...sources,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** Names an inline script in a policy. */
export function scriptHash(script: string): string {
  return `'sha256-${createHash("sha256").update(script).digest("base64")}'`;
}
