/** The API reference at `/docs`: Scalar's viewer, served from here, for the document at `/v1/openapi.json`. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import {
  fileRoute,
  inlineHash,
  memoize,
  pagePolicy,
  pageRoute,
  staticFile,
} from "../http/static-file.ts";
import type { PackableBytes } from "../route/gzip.ts";
import { defineRoute, type Route } from "../route/route.ts";

const scriptPath = "docs/js/scalar.js";

/** Disables fonts from other hosts, telemetry and the hosted services of the viewer's authors. */
const configuration = {
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: "never",
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
  authentication: { preferredSecurityScheme: "ApiKey" },
  customCss: `
    .light-mode { --scalar-color-2: #5c5c5c; --scalar-color-3: #666; --scalar-color-accent: #005fa3;
      --scalar-color-blue: #005fa3; --scalar-color-green: #1a6b38; --scalar-color-orange: #8f4a00;
      --scalar-color-red: #b3140c; --scalar-color-yellow: #7a5b00; --scalar-color-purple: #5b3fc2; }
    .dark-mode { --scalar-color-2: #b5b5b5; --scalar-color-3: #a5a5a5; --scalar-color-accent: #6cb8ff;
      --scalar-color-blue: #6cb8ff; --scalar-color-red: #ff8b84; }`,
} as const;

/** Starts the viewer with the address of the service as the page has it, and names what it leaves without a name for screen readers. */
const startScript = `const root = new URL("./", location.href).href.slice(0, -1);
const source = { url: root + "/v1/openapi.json", servers: [{ url: root }] };
Scalar.createApiReference("#reference", Object.assign(source, ${JSON.stringify(configuration)}));
const named = [
  ["button[class*='copy-button']:not([aria-label])", { "aria-label": "Copy" }],
  [".code-input-lite__editor:not([aria-label])", { "aria-label": "Value", role: "textbox" }],
  ["button.show-more[aria-label]", { "aria-label": null }],
];
new MutationObserver(() => {
  for (const [selector, attributes] of named)
    for (const element of document.querySelectorAll(selector))
      for (const [name, value] of Object.entries(attributes))
        value === null ? element.removeAttribute(name) : element.setAttribute(name, value);
}).observe(document.body, { childList: true, subtree: true });`;

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Oddwire API reference</title>
<link rel="icon" href="data:,">
</head>
<body>
<noscript><p>This page needs JavaScript. The same as OpenAPI: <a href="v1/openapi.json">/v1/openapi.json</a></p></noscript>
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
      path: `/${scriptPath}`,
      summary: "The script of the API reference",
      cacheControl: "private, max-age=86400",
      handler: memoize(readScript),
    }),
  ];
}

const scriptFile = new URL("../../../docs/viewer.js", import.meta.url);

/** Reads the script, which a package has as a file. In a checkout it comes from the viewer's package. */
async function readScript(): Promise<PackableBytes> {
  const script = existsSync(scriptFile)
    ? await readFile(scriptFile)
    : await (await import("../../../deploy/viewer-script.ts")).readViewerScript();
  return staticFile(script, "text/javascript; charset=utf-8", scriptPolicy);
}
