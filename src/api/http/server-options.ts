import type { IncomingMessage } from "node:http";
import { webLimits } from "../../base/config/limits.ts";

/** Where the server listens, and how long it keeps idle connections. */
export type SocketOptions = {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** How long an idle connection stays open; 65 s by default. */
  readonly keepAliveSeconds?: number;
};

/** Returns the options of Node's HTTP server. */
export const getNodeOptions = ({
  keepAliveSeconds = webLimits.keepAliveSeconds,
}: SocketOptions) => ({
  maxHeaderSize: webLimits.headerBytesMax,
  headersTimeout: webLimits.headersTimeoutMs,
  requestTimeout: webLimits.requestTimeoutMs,
  // The interval at which Node applies the timeouts of slow senders, in milliseconds; 30 s by default.
  connectionsCheckingInterval: 1000,
  // Node's own error has none of our headers. `HttpServer` checks `Host` instead.
  requireHostHeader: false,
  // By default Node keeps only the first line of a header that must not be repeated, which would hide a second `Host`.
  joinDuplicateHeaders: true,
  // Skips the body stream of a request without a body. That is a twentieth of the cost of a cached response.
  optimizeEmptyRequests: true,
  keepAliveTimeout: keepAliveSeconds * 1000,
});

/** Options of Fastify. */
export const frameworkOptions = {
  logger: false,
  bodyLimit: webLimits.bodyBytesMax,
  // Fastify's own 503 has none of our headers. Requests that arrive while the server closes are answered.
  return503OnClosing: false,
  // Accepts an IPv6 /64 with an unencoded slash in the path, as the list of blocked IPs shows it.
  rewriteUrl: ({ url = "" }: IncomingMessage): string =>
    url.replace(/^(\/v1\/ip-blocks\/[^/?]+)\/64(?=$|\?)/, "$1%2F64"),
  routerOptions: {
    // The schemas limit the length of parameters.
    maxParamLength: webLimits.headerBytesMax,
    // Passes the raw text to the schema's reader, which detects repeated parameters and bad escapes.
    querystringParser: (text: string) => text as unknown as Record<string, unknown>,
  },
} as const;
