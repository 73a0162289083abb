import type { Caller } from "../../access/admission.ts";

/** Security headers. Once a browser has read them over TLS, it uses HTTPS only, for two years. */
const fixedHeaders = {
  "strict-transport-security": "max-age=63072000; includeSubDomains",
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
} as const;

/** Response headers that scripts of allowed origins can read. */
const exposedHeaders =
  "X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit-Policy, " +
  "RateLimit, Link, Retry-After, ETag, Content-Disposition, X-Row-Cap, X-Row-Count, " +
  "X-Rows-Truncated, X-Truncated-At-Start, X-Next-Cursor";

/** Headers of a preflight response: the request headers that pages can send, cached by browsers for 600 s. */
export const preflightHeaders = {
  "access-control-allow-headers":
    "X-API-Key, Authorization, X-Request-Id, Content-Type, If-None-Match",
  "access-control-max-age": "600",
} as const;

/** Long responses are compressed for clients that accept gzip, so caches must vary by `Accept-Encoding`. */
const vary = "Accept-Encoding";
const varyByOrigin = `Origin, ${vary}`;

/** Returns the headers of every response. Routes override `cache-control` on success. */
export function answerHeaders(caller: Caller, requestId: string): Record<string, string | number> {
  const { limit, remaining, resetMs } = caller.limitStatus;
  const resetSeconds = Math.ceil(resetMs / 1000);
  return {
    ...fixedHeaders,
    "cache-control": "no-store",
    vary,
    "x-request-id": requestId,
    "x-ratelimit-limit": limit,
    "x-ratelimit-remaining": remaining,
    "x-ratelimit-reset": resetSeconds,
    // The same by draft-ietf-httpapi-ratelimit-headers-10.
    "ratelimit-policy": `"default";q=${limit};w=60`,
    ratelimit: `"default";r=${remaining};t=${resetSeconds}`,
  };
}

/** Returns whether pages of an origin can read responses. */
export function allowsOrigin(
  origin: string | undefined,
  allowed: ReadonlySet<string>,
): origin is string {
  return origin !== undefined && (allowed.has("*") || allowed.has(origin));
}

/** Returns the CORS headers for the page that sent `origin`, and `Vary`. */
export function corsHeaders(
  origin: string | undefined,
  allowed: ReadonlySet<string>,
): Record<string, string> {
  const isOpen = allowed.has("*");
  // The response depends on `Origin` even when it is absent or refused, so caches must vary by it.
  const varied = { vary: isOpen || allowed.size === 0 ? vary : varyByOrigin };
  const allowedOrigin = isOpen ? "*" : origin;
  if (!allowsOrigin(allowedOrigin, allowed)) return varied;
  return {
    ...varied,
    "access-control-allow-origin": allowedOrigin,
    "access-control-expose-headers": exposedHeaders,
  };
}
