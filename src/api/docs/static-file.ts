import { createHash } from "node:crypto";
import { extname } from "node:path";
import { Type } from "typebox";
import type { Exchange } from "../http/exchange.ts";
import { bodyFor, PackableBytes } from "../http/gzip.ts";

/** Options of all routes of pages for browsers. They need no key. */
export const pageRoute = { access: "public", response: Type.String() } as const;

/** Options of all routes of files that pages load. They need no key. */
export const fileRoute = { access: "file", response: Type.String() } as const;

/** A file for browsers, compressed at the highest level when a client first accepts gzip. */
export class StaticFile {
  readonly #contentType: string;
  readonly #policy: string;
  readonly #packable: PackableBytes;

  constructor(body: Buffer, contentType: string, policy: string) {
    this.#contentType = contentType;
    this.#policy = policy;
    this.#packable = new PackableBytes(body, { level: 9 });
  }

  /** Sets the headers of the file and returns its body. */
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

/** Returns the content type by file extension; `null` for files that are not served. */
export function contentTypeOf(name: string): string | null {
  return contentTypes[extname(name)] ?? null;
}

/** Returns a Content-Security-Policy that lets a page load only what the directives in `sources` allow. */
export function pagePolicy(sources: readonly string[]): string {
  return [
    "default-src 'none'",
    ...sources,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** Returns the source expression that allows an inline script or style in a policy. */
export function inlineHash(inline: string): string {
  return `'sha256-${createHash("sha256").update(inline).digest("base64")}'`;
}
