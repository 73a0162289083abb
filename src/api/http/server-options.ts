import type { IncomingMessage } from "node:http";
import { webLimits } from "../../base/config/limits.ts";

/** Of the HTTP server. */
export const nodeOptions = {
  maxHeaderSize: webLimits.headerBytesMax,
  headersTimeout: webLimits.headersTimeoutMs,
  requestTimeout: webLimits.requestTimeoutMs,
  keepAliveTimeout: webLimits.keepAliveTimeoutMs,
  // Node looks for slow senders only this often, by default every 30 s.
  connectionsCheckingInterval: 1000,
  // Node's own refusal has none of our headers; #receive refuses instead.
  requireHostHeader: false,
  // Of a header that must not be repeated Node would otherwise keep the first line only.
  joinDuplicateHeaders: true,
  // What has no body is not made a stream that ends, which is a twentieth of a request out of memory.
  optimizeEmptyRequests: true,
} as const;

/** Of Fastify. */
export const frameworkOptions = {
  logger: false,
  bodyLimit: webLimits.bodyBytesMax,
  // Fastify's own 503 has none of our headers; what still arrives is answered.
  return503OnClosing: false,
  // An IPv6 /64 in a path, as the list of blocked IPs shows it, with its slash as it is.
  rewriteUrl: ({ url = "" }: IncomingMessage): string =>
    url.replace(/^(\/v1\/ip-blocks\/[^/?]+)\/64(?=$|\?)/, "$1%2F64"),
  routerOptions: {
    // Parameters are measured by their schemas.
    maxParamLength: webLimits.headerBytesMax,
    // The text goes on to the schema's reader, which sees repeats and bad escapes.
    querystringParser: (text: string) => text as unknown as Record<string, unknown>,
  },
} as const;
