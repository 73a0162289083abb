/**
 * Writes `dist/`, or the folder that is given: the JavaScript that the package and the image contain instead of the
 * source. Node strips no types under `node_modules`. `npm pack` runs this script, and so does `npm test`, which starts
 * the package that users install.
 *
 * The code and the schema library, which alone has 683 modules, are bundled into few files. A start then takes a
 * quarter less processor time (decision 0022). The demo contains what it uses of viem, which is 59 MB when installed.
 * NOTICE has the licenses of bundled libraries.
 */
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { bundleExplorer } from "../explorer/bundle-explorer.ts";
import { readViewerScript } from "./viewer-script.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const target = resolve(root, process.argv[2] ?? "dist");

/** The files that are started as a process or as a thread. Each of them stays a separate file. */
const entryPoints = [
  "src/cli.ts",
  "src/api/bulk/encoding-worker.ts",
  "src/feed/chain-worker.ts",
  "src/storage/sqlite/wal-checkpoint-thread.ts",
];
/** The image has no demo. */
const hasDemo = existsSync(join(root, "demo"));
if (hasDemo) entryPoints.push("demo/demo.ts", "demo/leash.ts");

/**
 * Rewrites the URLs of entry points and of files that are read next to the source: all files of `dist/` are in one
 * folder.
 */
const addresses: Plugin = {
  name: "addresses",
  setup(builder) {
    builder.onLoad({ filter: /\/(src|demo)\/.*\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const place = `new URL(${JSON.stringify(relative(root, path))}, import.meta.url).href`;
      const contents = source.replaceAll(
        /new URL\("[^"]*?([\w-]+)\.ts", import\.meta\.url\)|import\.meta\.url/g,
        (_match, entry?: string) =>
          entry === undefined ? place : `new URL("./${entry}.js", import.meta.url)`,
      );
      return { contents, loader: "ts" };
    });
  },
};

const { dependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
  readonly dependencies: Readonly<Record<string, string>>;
};

rmSync(target, { recursive: true, force: true });
await build({
  absWorkingDir: root,
  entryPoints,
  outdir: target,
  entryNames: "[name]",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node24",
  external: [
    ...Object.keys(dependencies),
    // The package has the explorer and the viewer of the API reference as they are served.
    "*/explorer/bundle-explorer.ts",
    "*/deploy/viewer-script.ts",
  ],
  plugins: [addresses],
  logLevel: "warning",
});

mkdirSync(join(target, "explorer"));
for (const [name, body] of await bundleExplorer())
  writeFileSync(join(target, "explorer", name), body);

mkdirSync(join(target, "docs"));
writeFileSync(join(target, "docs/viewer.js"), await readViewerScript());

const copied = hasDemo ? ["demo/artifacts"] : [];
// `npm run guide` builds docs/dist. A package without it does not serve /guide.
if (existsSync(join(root, "docs/dist"))) copied.push("docs/dist");
for (const path of copied) cpSync(join(root, path), join(target, path), { recursive: true });
