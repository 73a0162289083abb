// The documentation as a site, from the same Markdown: `npm run guide` writes docs/dist, which the service serves at /guide.
import { posix } from "node:path";

const page = (text, link) => ({ text, link });

/** Where the site is without a proxy that serves it below another path. Each page finds out where it really is. */
const base = "/guide/";
const realBase = "(__VP_SITE_DATA__.base)";

export default {
  title: "Oddwire",
  description: "The self-hosted Polymarket data API",
  base,
  lastUpdated: false,
  // Without an icon of its own, browsers ask the service for /favicon.ico, which it does not have.
  head: [["link", { rel: "icon", href: "data:," }]],
  srcExclude: ["decisions/**"],
  rewrites: { "README.md": "index.md", "guide/README.md": "guide/index.md" },
  markdown: { config: adaptLinks },
  vite: {
    plugins: [
      {
        name: "real-base",
        apply: (_config, { isSsrBuild }) => isSsrBuild !== true,
        generateBundle: useRealBase,
      },
    ],
  },
  transformHtml: makeRelative,
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [page("Guide", "/guide/"), page("API", "/http-api"), page("Operations", "/operations")],
    sidebar: [
      {
        text: "Guide",
        items: [
          page("Start", "/guide/"),
          page("Tutorial: a bot", "/guide/bot"),
          page("Tutorial: a notebook", "/guide/notebook"),
          page("Trades and volume", "/guide/trades"),
          page("Price", "/guide/price"),
          page("Wallets", "/guide/wallets"),
          page("Candles", "/guide/candles"),
          page("Stream", "/guide/stream"),
          page("Finality and reorgs", "/guide/finality"),
          page("Exports and notebooks", "/guide/exports"),
          page("Keys and limits", "/guide/limits"),
        ],
      },
      {
        text: "Reference",
        items: [
          page("HTTP API", "/http-api"),
          page("Stream", "/stream"),
          page("Errors", "/errors"),
          page("Polymarket's fields", "/polymarket-fields"),
          page("Questions and answers", "/faq"),
          page("Versions and support", "/versioning"),
          page("How trades are counted", "/counting"),
          page("Order books", "/order-books"),
          page("Clients", "/clients"),
          page("Agents", "/mcp"),
          page("Lake: history as Parquet", "/lake"),
          page("Market metadata", "/market-metadata"),
          page("Glossary", "/glossary"),
        ],
      },
      {
        text: "Operate",
        items: [
          page("Operations", "/operations"),
          page("Proxies and balancers", "/proxies"),
          page("Configuration", "/configuration"),
          page("Metrics", "/metrics"),
          page("ClickHouse server", "/clickhouse"),
          page("Cluster", "/cluster"),
          page("Audit, check and repair", "/audit"),
          page("Finality and completeness", "/completeness"),
        ],
      },
      {
        text: "About",
        items: [page("Guarantees", "/guarantees"), page("Comparison", "/comparison")],
      },
    ],
  },
};

/** Replaces the base in scripts by the one that the page found. */
function useRealBase(_options, bundle) {
  for (const chunk of Object.values(bundle)) {
    if (chunk.type !== "chunk") continue;
    chunk.code = chunk.code.replaceAll(`"${base}"`, realBase);
    // The index is JSON in single quotes. Its ids are paths.
    if (chunk.name.startsWith("@localSearchIndex"))
      chunk.code = chunk.code.replaceAll(`:"${base}`, `:"'+${realBase}+'`);
  }
}

/** Makes the addresses in a page relative, and adds a script that finds the base before the others start. */
function makeRelative(html, _file, { page: path }) {
  const root = "../".repeat(path.split("/").length - 1) || "./";
  // The links around the text stay when another page is opened, so they must not be relative then.
  const script = [
    `${realBase}=new URL("${root}",location.href).pathname`,
    `for(const link of document.querySelectorAll('a[href^="."]'))link.setAttribute("href",link.pathname+link.hash)`,
  ];
  return html
    .replaceAll(/(?<= (?:href|src)=")\/guide\//g, root)
    .replace("</body>", `<script>${script.join(";")}</script></body>`);
}

/** Links to files that are not part of the site, such as tests, become plain text; those to a README lead to its page. */
function adaptLinks(markdown) {
  markdown.core.ruler.push("outside-links", ({ tokens, env }) => {
    for (const { children } of tokens) {
      let isOutside = false;
      for (const token of children ?? []) {
        if (token.type === "link_open") {
          const href = token.attrGet("href");
          isOutside = leadsOutside(href, env);
          // The page is called index.md there.
          token.attrSet("href", href.replace(/(^|\/)README\.md/, "$1index.md"));
        }
        if (!isOutside) continue;
        if (token.type === "link_open") Object.assign(token, { type: "html_inline", content: "" });
        if (token.type === "link_close") {
          Object.assign(token, { type: "html_inline", content: "" });
          isOutside = false;
        }
      }
    }
  });
}

function leadsOutside(href, { relativePath }) {
  if (/^(?:[a-z]+:|#)/.test(href)) return false;
  const path = posix.join(posix.dirname(relativePath), href);
  return path.startsWith("..") || path.startsWith("decisions/");
}
