/** The explorer: one page at all of its paths, and its assets. */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { Type } from "typebox";
import { assert } from "../../base/assert.ts";
import { AppError } from "../../base/errors.ts";
import {
  fileRoute,
  getContentType,
  getRootUrl,
  memoize,
  pagePolicy,
  pageRoute,
  staticFile,
} from "../http/static-file.ts";
import type { PackableBytes } from "../route/gzip.ts";
import { defineRoute } from "../route/route.ts";

/** The files by name. The name of an asset contains a hash of its content. */
export type ExplorerFiles = ReadonlyMap<string, Buffer>;

/** The name of the page. All other files are its assets. */
export const pageName = "index.html";

const root = new URL("../../../explorer/", import.meta.url);

/** Reads the files, which a package has. In a checkout they are bundled from source. */
async function openExplorer(): Promise<ExplorerFiles> {
  if (existsSync(new URL("src/", root))) {
    const { bundleExplorer } = await import("../../../explorer/bundle-explorer.ts");
    return bundleExplorer();
  }
  const names = await readdir(root);
  const bodies = names.map(async (name) => [name, await readFile(new URL(name, root))] as const);
  return new Map(await Promise.all(bodies));
}

const nouns = ["market", "event", "wallet", "tx", "order"] as const;
/** The same as in the API. */
const lists = ["markets", "events", "wallets", "transactions", "orders"] as const;
const idPaths = [...nouns, ...lists].map((noun) => `/${noun}/{id}` as const);
const pagePaths = ["/", "/trades", "/status", "/keys", "/markets", ...idPaths] as const;

const pageParams = Type.Object({ id: Type.String({ minLength: 1, maxLength: 300 }) });

const yearSeconds = 31_536_000;

/**
 * Returns the routes of the explorer and its page. They need no key. The files are opened at the first request. The page
 * shows pictures of markets from `imageOrigins` only.
 */
export function explorerRoutes(imageOrigins: readonly string[], open = openExplorer) {
  const readFiles = memoize(async () => keep(await open(), imageOrigins));
  // In the browser it shows what its address names, or that there is no such page.
  const page = async (target: string): Promise<PackableBytes> =>
    (await readFiles()).getPage(getRootUrl(target));
  const pages = pagePaths.map((path) =>
    defineRoute({
      ...pageRoute,
      path,
      summary: "The explorer",
      params: path.endsWith("{id}") ? pageParams : Type.Object({}),
      // The page keeps its state in the query string.
      querystring: Type.Object({}, { additionalProperties: true }),
      cacheControl: "private, max-age=0",
      handler: () => page(path),
    }),
  );
  const assets = defineRoute({
    ...fileRoute,
    path: "/assets/{name}",
    summary: "What the explorer loads",
    params: Type.Object({ name: Type.String({ minLength: 1, maxLength: 100 }) }),
    // Without `immutable` some browsers ask again when the page is reloaded.
    cacheControl: `private, max-age=${yearSeconds}, immutable`,
    handler: async ({ params }) => {
      const asset = (await readFiles()).assets.get(params.name);
      if (asset === undefined) throw new AppError("NOT_FOUND");
      return asset;
    },
  });
  return { routes: [...pages, assets], page };
}

/** Returns the assets by name, and the page for each relative URL of the root. */
function keep(files: ExplorerFiles, imageOrigins: readonly string[]) {
  // The page loads its own assets and pictures of these origins, and calls the service it came from: nothing else.
  const policy = pagePolicy([
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    ["img-src data:", ...imageOrigins].join(" "),
  ]);
  const toFile = (name: string, body: Buffer): PackableBytes => {
    const contentType = getContentType(name);
    assert(contentType !== null, `${name} is of the explorer`);
    return staticFile(body, contentType, policy);
  };
  const meta = `<meta name="image-origins" content="${imageOrigins.join(" ")}"></head>`;
  const source = String(files.get(pageName));
  const page = imageOrigins.length > 0 ? source.replace("</head>", meta) : source;
  const pages = new Map<string, PackableBytes>();
  const assets = [...files].filter(([name]) => name !== pageName);
  return {
    assets: new Map(assets.map(([name, body]) => [name, toFile(name, body)])),
    getPage: (root: string): PackableBytes => {
      const body = page.replaceAll(/(?<= (?:href|src)=")\//g, root);
      const made = pages.get(root) ?? toFile(pageName, Buffer.from(body));
      pages.set(root, made);
      return made;
    },
  };
}
