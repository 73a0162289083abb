/** The explorer: one page at all of its paths, and its assets. */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { Type } from "typebox";
import { assert } from "../../base/assert.ts";
import { AppError } from "../../base/errors.ts";
import {
  fileRoute,
  getContentType,
  madeOnce,
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

/** Lets the page load its own assets and pictures of these origins, call the service it came from, and nothing else. */
function getPolicy(imageOrigins: readonly string[]): string {
  return pagePolicy([
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    ["img-src data:", ...imageOrigins].join(" "),
  ]);
}

/** All paths at which the page shows something. */
const pagePaths = [
  "/",
  "/market/{id}",
  "/event/{id}",
  "/wallet/{id}",
  "/tx/{id}",
  "/order/{id}",
  "/trades",
  "/status",
  "/keys",
  // The same as in the API.
  "/markets",
  "/markets/{id}",
  "/events/{id}",
  "/wallets/{id}",
  "/transactions/{id}",
  "/orders/{id}",
] as const;

const pageParams = Type.Object({ id: Type.String({ minLength: 1, maxLength: 300 }) });

const yearSeconds = 31_536_000;

/**
 * Returns the routes of the explorer and its page. They need no key. The files are opened at the first request. The page
 * shows pictures of markets from `imageOrigins` only.
 */
export function explorerRoutes(imageOrigins: readonly string[], open = openExplorer) {
  const readFiles = madeOnce(async () => keep(await open(), imageOrigins));
  const fileNamed = async (name: string): Promise<PackableBytes> => {
    const file = (await readFiles()).get(name);
    if (file === undefined) throw new AppError("NOT_FOUND");
    return file;
  };
  // In the browser it shows what its address names, or that there is no such page.
  const page = () => fileNamed("");
  const pages = pagePaths.map((path) =>
    defineRoute({
      ...pageRoute,
      path,
      summary: "The explorer",
      params: path.endsWith("{id}") ? pageParams : Type.Object({}),
      // The page keeps its state in the query string.
      querystring: Type.Object({}, { additionalProperties: true }),
      cacheControl: "private, max-age=0",
      handler: page,
    }),
  );
  const assets = defineRoute({
    ...fileRoute,
    path: "/assets/{name}",
    summary: "What the explorer loads",
    params: Type.Object({ name: Type.String({ minLength: 1, maxLength: 100 }) }),
    // Without `immutable` some browsers ask again when the page is reloaded.
    cacheControl: `private, max-age=${yearSeconds}, immutable`,
    handler: ({ params }) => fileNamed(params.name),
  });
  return { routes: [...pages, assets], page };
}

function keep(
  files: ExplorerFiles,
  imageOrigins: readonly string[],
): ReadonlyMap<string, PackableBytes> {
  const policy = getPolicy(imageOrigins);
  const meta = `<meta name="image-origins" content="${imageOrigins.join(" ")}"></head>`;
  return new Map(
    [...files].map(([name, body]) => {
      const contentType = getContentType(name);
      assert(contentType !== null, `${name} is of the explorer`);
      const isPage = name === pageName;
      const hasMeta = isPage && imageOrigins.length > 0;
      const full = hasMeta ? Buffer.from(body.toString().replace("</head>", meta)) : body;
      const file = staticFile(full, contentType, policy);
      // The page has no name under `/assets`, where browsers cache files for a year.
      return [isPage ? "" : name, file];
    }),
  );
}
