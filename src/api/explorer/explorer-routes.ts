/** The explorer: one page at all of its paths, and its assets. */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { Type } from "typebox";
import { assert } from "../../base/assert.ts";
import { AppError } from "../../base/errors.ts";
import {
  contentTypeOf,
  fileRoute,
  pagePolicy,
  pageRoute,
  staticFile,
} from "../docs/static-file.ts";
import type { PackableBytes } from "../http/gzip.ts";
import { defineRoute, type Route } from "../http/route.ts";

/** The files by name. The name of an asset contains a hash of its content. */
export type ExplorerFiles = ReadonlyMap<string, Buffer>;

/** The name of the page. All other files are its assets. */
export const pageName = "index.html";

const root = new URL("../../../explorer/", import.meta.url);

/** Reads the files, which a package has. In a checkout they are bundled from source. */
export async function openExplorer(): Promise<ExplorerFiles> {
  if (existsSync(new URL("src/", root))) {
    const { bundleExplorer } = await import("../../../explorer/bundle-explorer.ts");
    return bundleExplorer();
  }
  const names = await readdir(root);
  const bodies = names.map(async (name) => [name, await readFile(new URL(name, root))] as const);
  return new Map(await Promise.all(bodies));
}

/** Lets the page load its own assets, call the service it came from, and nothing else. */
const contentSecurityPolicy = pagePolicy([
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src data:",
]);

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
] as const;

const pageParams = Type.Object({ id: Type.String({ minLength: 1, maxLength: 300 }) });

const yearSeconds = 31_536_000;

/** The routes of the explorer. Its files are opened at the first request. */
export class Explorer {
  readonly #open: () => Promise<ExplorerFiles>;
  #files: Promise<ReadonlyMap<string, PackableBytes>> | null = null;

  constructor(open: () => Promise<ExplorerFiles>) {
    this.#open = open;
  }

  /** The routes of the page and its assets. They need no key. */
  get routes(): readonly Route[] {
    const pages = pagePaths.map((path) =>
      defineRoute({
        ...pageRoute,
        path,
        summary: "The explorer",
        params: path.endsWith("{id}") ? pageParams : Type.Object({}),
        // The page keeps its state in the query string.
        querystring: Type.Object({}, { additionalProperties: true }),
        cacheControl: "private, max-age=0",
        handler: () => this.page(),
      }),
    );
    const assets = defineRoute({
      ...fileRoute,
      path: "/assets/{name}",
      summary: "What the explorer loads",
      params: Type.Object({ name: Type.String({ minLength: 1, maxLength: 100 }) }),
      // Without `immutable` some browsers ask again when the page is reloaded.
      cacheControl: `private, max-age=${yearSeconds}, immutable`,
      handler: ({ params }) => this.#file(params.name),
    });
    return [...pages, assets];
  }

  /** Returns the page. In the browser it shows what its address names, or that there is no such page. */
  async page(): Promise<PackableBytes> {
    return this.#file("");
  }

  async #file(name: string): Promise<PackableBytes> {
    this.#files ??= this.#open().then(keep);
    const files = await this.#files.catch((thrown: unknown) => {
      // The next request tries again.
      this.#files = null;
      throw thrown;
    });
    const file = files.get(name);
    if (file === undefined) throw new AppError("NOT_FOUND");
    return file;
  }
}

function keep(files: ExplorerFiles): ReadonlyMap<string, PackableBytes> {
  return new Map(
    [...files].map(([name, body]) => {
      const contentType = contentTypeOf(name);
      assert(contentType !== null, `${name} is of the explorer`);
      const file = staticFile(body, contentType, contentSecurityPolicy);
      // The page has no name under `/assets`, where browsers cache files for a year.
      return [name === pageName ? "" : name, file];
    }),
  );
}
