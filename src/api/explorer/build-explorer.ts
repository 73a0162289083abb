/**
 * The explorer as it is served, made from the files of this package: one script of all its modules, the
 * client it is built on and the library that draws candles. Nothing is written to the disk.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { ExplorerFile } from "./explorer-routes.ts";

const root = new URL("../../../explorer/", import.meta.url);

/** The page and what it loads. Takes some tenths of a second. */
export async function buildExplorer(): Promise<readonly ExplorerFile[]> {
  const style = assetOf("explorer", "css", await bundle("style.css"));
  const script = assetOf("explorer", "js", await bundle("src/main.tsx"));
  const page = await readFile(new URL("index.html", root), "utf8");
  const linked = page
    .replace('href="style.css"', `href="/assets/${style.name}"`)
    .replace('src="src/main.tsx"', `src="/assets/${script.name}"`);
  return [
    { name: "", contentType: "text/html; charset=utf-8", body: Buffer.from(linked) },
    style,
    script,
  ];
}

async function bundle(entry: string): Promise<Buffer> {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(entry, root))],
    bundle: true,
    minify: true,
    format: "esm",
    target: ["es2023", "chrome123", "firefox121", "safari17.5"],
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "eof",
    write: false,
    logLevel: "silent",
  });
  return Buffer.concat(outputFiles.map(({ contents }) => contents));
}

/** Its name says what is in it, so that it can be kept for good. */
function assetOf(name: string, extension: keyof typeof contentTypes, body: Buffer): ExplorerFile {
  const hash = createHash("sha256").update(body).digest("hex").slice(0, 16);
  return { name: `${name}-${hash}.${extension}`, contentType: contentTypes[extension], body };
}

const contentTypes = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
} as const;
