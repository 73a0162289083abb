/**
 * Opens the files of the explorer: one page, one style sheet and one script, which includes the client and the chart
 * library. A package has these files, made by `deploy/build-package.ts`; a checkout bundles them from source.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { type ExplorerFile, pageName } from "./explorer-routes.ts";

const root = new URL("../../../explorer/", import.meta.url);

/** Reads the page and its assets, or bundles them in a checkout. */
export async function openExplorer(): Promise<readonly ExplorerFile[]> {
  return existsSync(new URL("src/", root)) ? bundleExplorer() : readExplorer();
}

/** Reads the files of a package. */
async function readExplorer(): Promise<readonly ExplorerFile[]> {
  const names = await readdir(root);
  return Promise.all(
    names.map(async (name) => ({ name, body: await readFile(new URL(name, root)) })),
  );
}

/** Bundles the files from source, which takes some tenths of a second. */
export async function bundleExplorer(): Promise<readonly ExplorerFile[]> {
  const style = assetOf("explorer", "css", await bundle("style.css"));
  const script = assetOf("explorer", "js", await bundle("src/main.tsx"));
  const page = await readFile(new URL("index.html", root), "utf8");
  const linked = page
    .replace('href="style.css"', `href="/assets/${style.name}"`)
    .replace('src="src/main.tsx"', `src="/assets/${script.name}"`);
  return [{ name: pageName, body: Buffer.from(linked) }, style, script];
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

/** Names an asset by the hash of its content, so that browsers can cache it without asking again. */
function assetOf(name: string, extension: "css" | "js", body: Buffer): ExplorerFile {
  const hash = createHash("sha256").update(body).digest("hex").slice(0, 16);
  return { name: `${name}-${hash}.${extension}`, body };
}
