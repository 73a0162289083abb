import type { Caller } from "../../access/admission.ts";

/** Behind TLS browsers then never fall back to plain HTTP, for two years. */
const fixedHeaders = {
  "strict-transport-security": "max-age=63072000; includeSubDomains",
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
} as const;

/** What scripts of allowed origins may read beyond the body. */
const exposedHeaders = [
  "X-Request-Id",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "Retry-After",
  "ETag",
  "Content-Disposition",
  "X-Row-Cap",
  "X-Row-Count",
  "X-Rows-Truncated",
  "X-Next-Cursor",
].join(", ");

/** What a preflight allows beyond what browsers always do. */
export const preflightHeaders = {
  "access-control-allow-headers":
    "X-API-Key, Authorization, X-Request-Id, Content-Type, If-None-Match",
  "access-control-max-age": "600",
} as const;

/** Long responses are compressed for clients that accept it. */
const vary = "Accept-Encoding";
const varyByOrigin = `Origin, ${vary}`;

/** The headers of every answer, whatever it is. Routes override `cache-control` on success. */
export function answerHeaders(caller: Caller, requestId: string): Record<string, string | number> {
  const { standing } = caller;
  return {
    ...fixedHeaders,
    "cache-control": "no-store",
    vary,
    "x-request-id": requestId,
    "x-ratelimit-limit": standing.limit,
    "x-ratelimit-remaining": standing.remaining,
    "x-ratelimit-reset": Math.ceil(standing.resetMs / 1000),
  };
}

/** Whether a page of an origin may read answers. */
export function allowsOrigin(
  origin: string | undefined,
  allowed: ReadonlySet<string>,
): origin is string {
  return origin !== undefined && (allowed.has("*") || allowed.has(origin));
}

/** Headers for the page that sent `origin`, and what answers to it depend on. */
export function corsHeaders(
  origin: string | undefined,
  allowed: ReadonlySet<string>,
): Record<string, string> {
  const isOpen = allowed.has("*");
  // The answer depends on the origin also when that is absent or refused: caches must know.
  const varied = { vary: isOpen || allowed.size === 0 ? vary : varyByOrigin };
  const shown = isOpen ? "*" : origin;
  if (!allowsOrigin(shown, allowed)) return varied;
  return {
    ...varied,
    "access-control-allow-origin": shown,
    "access-control-expose-headers": exposedHeaders,
  };
}
