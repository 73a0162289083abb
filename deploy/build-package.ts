/**
 * Writes `dist/`, or the folder that is given: what the package and the image hold in place of the source. Node strips
 * no types under `node_modules`. `npm pack` runs it, and so does `npm test`, to start what users install.
 *
 * The code is joined into few files, together with the schema library, which alone has 683 modules: a start takes a
 * quarter less processor time (decision 0022). NOTICE has the license of what is joined.
 */
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { bundleExplorer } from "../src/api/explorer/build-explorer.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const target = resolve(root, process.argv[2] ?? "dist");

/** What is started as a process or as a thread, each of which is a file of its own. */
const entryPoints = [
  "src/cli.ts",
  "src/api/bulk/encoding-worker.ts",
  "src/feed/chain-worker.ts",
  "src/storage/sqlite/wal-checkpoint-thread.ts",
  "demo/demo.ts",
  "demo/leash.ts",
];

/** All files of `dist/` are in one folder: addresses of entry points, and of what is read next to them, are rewritten. */
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

const { dependencies, optionalDependencies } = JSON.parse(
  await readFile(join(root, "package.json"), "utf8"),
) as Readonly<Record<"dependencies" | "optionalDependencies", Record<string, string>>>;

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
  // Only a checkout bundles the explorer.
  external: Object.keys({ ...dependencies, ...optionalDependencies, esbuild: "" }),
  plugins: [addresses],
  logLevel: "warning",
});

// As it is served: a package neither has its source nor what it is bundled with.
mkdirSync(join(target, "explorer"));
for (const { name, body } of await bundleExplorer())
  writeFileSync(join(target, "explorer", name), body);

const copied = ["demo/artifacts"];
// `npm run guide` builds it; a package without it serves no /guide.
if (existsSync(join(root, "docs/dist"))) copied.push("docs/dist");
for (const path of copied) cpSync(join(root, path), join(target, path), { recursive: true });
