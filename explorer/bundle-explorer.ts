/**
 * Bundles the explorer into one page, one style sheet and one script, which includes the client and the chart library:
 * when a package is built, and in a checkout at the first request.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = new URL("./", import.meta.url);

/** Returns the files by name, which takes some tenths of a second. */
export async function bundleExplorer(): Promise<ReadonlyMap<string, Buffer>> {
  const style = await bundle("style.css");
  const script = await bundle("src/main.tsx");
  const [styleName, scriptName] = [getName(style, "css"), getName(script, "js")];
  const page = await readFile(new URL("index.html", root), "utf8");
  const linked = page
    .replace('href="style.css"', `href="/assets/${styleName}"`)
    .replace('src="src/main.tsx"', `src="/assets/${scriptName}"`);
  return new Map([
    ["index.html", Buffer.from(linked)],
    [styleName, style],
    [scriptName, script],
  ]);
}

async function bundle(entry: string): Promise<Buffer> {
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
function getName(asset: Buffer, extension: "css" | "js"): string {
  const hash = createHash("sha256").update(asset).digest("hex").slice(0, 16);
  return `explorer-${hash}.${extension}`;
}
