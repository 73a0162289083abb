/** The API reference at `/docs`: Scalar's viewer, served from here, for the document at `/v1/openapi.json`. */
import { fastify } from "fastify";
import type { PackableBytes } from "../http/gzip.ts";
import { defineRoute, type Route } from "../http/route.ts";
import {
  fileRoute,
  inlineHash,
  madeOnce,
  pagePolicy,
  pageRoute,
  staticFile,
} from "./static-file.ts";

const scriptPath = "/docs/js/scalar.js";

/** Disables fonts from other hosts, telemetry and the hosted services of the viewer's authors. */
const configuration = {
  url: "/v1/openapi.json",
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: "never",
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
  authentication: { preferredSecurityScheme: "ApiKey" },
} as const;

const startScript = `Scalar.createApiReference("#reference", ${JSON.stringify(configuration)});`;

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Oddwire API reference</title>
<link rel="icon" href="data:,">
</head>
<body>
<noscript><p>This page needs JavaScript. The same as OpenAPI: <a href="/v1/openapi.json">/v1/openapi.json</a></p></noscript>
<div id="reference"></div>
<script src="${scriptPath}"></script>
<script>${startScript}</script>
</body>
</html>
`;

/** Allows the viewer's inline styles, images and fonts in `data:` URLs, and calls to this service only. */
const contentSecurityPolicy = pagePolicy([
  `script-src 'self' ${inlineHash(startScript)}`,
  "style-src 'unsafe-inline'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src data:",
]);

const scriptPolicy = "default-src 'none'; frame-ancestors 'none'";

/** The routes of the page and of its script, which is read at the first request. They need no key. */
export function referenceRoutes(): readonly Route[] {
  const file = staticFile(Buffer.from(page), "text/html; charset=utf-8", contentSecurityPolicy);
  return [
    defineRoute({
      ...pageRoute,
      path: "/docs",
      summary: "The API reference",
      cacheControl: "private, max-age=300",
      handler: () => file,
    }),
    defineRoute({
      ...fileRoute,
      path: scriptPath,
      summary: "The script of the API reference",
      cacheControl: "private, max-age=86400",
      handler: madeOnce(readScript),
    }),
  ];
}

/** Reads the script through a Fastify server that never listens, because only the package's plugin has it. */
async function readScript(): Promise<PackableBytes> {
  const { default: scalar } = await import("@scalar/fastify-api-reference");
  const server = fastify();
  await server.register(scalar, { routePrefix: "/docs", configuration });
  const { rawPayload } = await server.inject(scriptPath);
  await server.close();
  return staticFile(rawPayload, "text/javascript; charset=utf-8", scriptPolicy);
}
