/** The documentation site at `/guide`, which `npm run guide` builds. It needs no key. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Type } from "typebox";
import { AppError } from "../../base/errors.ts";
import {
  fileRoute,
  getContentType,
  inlineHash,
  pagePolicy,
  staticFile,
} from "../http/static-file.ts";
import type { PackableBytes } from "../route/gzip.ts";
import { defineRoute, type Route } from "../route/route.ts";

const builtFolder = fileURLToPath(new URL("../../../docs/dist/", import.meta.url));

const notBuilt = "The documentation was not built: run `npm run guide` in the checkout";

/** A segment of a path. In the path of a folder the last one is empty. */
const segment = Type.String({ maxLength: 100 });

/** Returns routes that serve a built site. If it was not built, they say how to build it. */
export function guideRoutes(folder = builtFolder): readonly Route[] {
  const getFiles = watchFiles(folder);
  const common = {
    ...fileRoute,
    summary: "The documentation",
    cacheControl: "private, max-age=300",
  } as const;
  const pages = ["", "{one}", "{one}/{two}", "{one}/{two}/{three}"].map((rest) =>
    defineRoute({
      ...common,
      path: `/guide/${rest}`,
      params: Type.Object(
        Object.fromEntries([...rest.matchAll(/\w+/g)].map(([name]) => [name, segment])),
      ),
      handler: ({ params }) => {
        const path = Object.values(params)
          .join("/")
          .replace(/(^|\/)$/, "$1index.html");
        const files = getFiles();
        const file = files.get(path) ?? files.get(`${path}.html`);
        if (file === undefined)
          throw new AppError("NOT_FOUND", files.size === 0 ? notBuilt : undefined);
        return file;
      },
    }),
  );
  const redirect = defineRoute({
    ...common,
    path: "/guide",
    statuses: [308],
    handler: (_request, reply) => {
      reply.header("location", "guide/");
      return "";
    },
  });
  return [redirect, ...pages];
}

type Files = ReadonlyMap<string, PackableBytes>;

/** Returns a function that returns the files of a site. They are read again after another build has replaced the folder. */
function watchFiles(folder: string): () => Files {
  let built: number | undefined;
  let files: Files = new Map();
  return () => {
    const { ino } = statSync(folder, { throwIfNoEntry: false }) ?? {};
    if (ino !== built) files = ino === undefined ? new Map() : readFiles(folder);
    built = ino;
    return files;
  };
}

function readFiles(folder: string): Files {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return new Map(
    names.flatMap((name) => {
      const contentType = getContentType(name);
      if (contentType === null) return [];
      const body = readFileSync(join(folder, name));
      const policy = extname(name) === ".html" ? getPolicy(body.toString()) : "default-src 'none'";
      return [[name, staticFile(body, contentType, policy)]];
    }),
  );
}

/** Returns a policy that lets a page load files of the site and run its inline scripts, and nothing else. */
function getPolicy(page: string): string {
  const inline = [...page.matchAll(/<script(?: id="[^"]*")?>([^]*?)<\/script>/g)];
  const hashes = inline.map(([, script = ""]) => ` ${inlineHash(script)}`);
  return pagePolicy([
    `script-src 'self'${hashes.join("")}`,
    "style-src 'self' 'unsafe-inline'",
    "connect-src 'self'",
    "img-src 'self' data:",
  ]);
}
