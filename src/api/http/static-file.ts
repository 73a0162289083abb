import { hash } from "node:crypto";
import { extname } from "node:path";
import { Type } from "typebox";
import { PackableBytes } from "../route/gzip.ts";

/** Options of all routes of pages for browsers. They need no key. */
export const pageRoute = { access: "public", response: Type.String() } as const;

/** Options of all routes of files that pages load. They need no key. */
export const fileRoute = { access: "file", response: Type.String() } as const;

/** A file for browsers, compressed at the highest level when a client first accepts gzip. */
export function staticFile(body: Buffer, contentType: string, policy: string): PackableBytes {
  const headers = { "content-type": contentType, "content-security-policy": policy };
  return new PackableBytes(body, { level: 9, headers });
}

/** Deeper paths are of no page. Each level of an unknown path can cost a copy of the page. */
const levelsMax = 8;

/**
 * Returns the relative URL of the root of the service at a request target, such as `../` at `/market/{id}`. Unlike `/`
 * it is correct when a proxy serves the service below a path.
 */
export function getRootUrl(target: string): string {
  const levels = target.replace(/\?.*/s, "").split("/").length - 2;
  return levels > levelsMax ? "/" : "../".repeat(levels) || "./";
}

/** Returns a function that makes something at the first call, for all calls. After a failure the next call tries again. */
export function memoize<Made>(make: () => Promise<Made>): () => Promise<Made> {
  let made: Promise<Made> | null = null;
  return async () =>
    (made ??= make().catch((thrown: unknown) => {
      made = null;
      throw thrown;
    }));
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
export function getContentType(name: string): string | null {
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
  return `'sha256-${hash("sha256", inline, "base64")}'`;
}
