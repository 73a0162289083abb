/**
 * Writes `dist/`, which the package of the service holds in place of its source: Node strips no types under
 * `node_modules`. `npm pack` runs it.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const target = join(root, "dist");

rmSync(target, { recursive: true, force: true });
const compiler = join(
  dirname(createRequire(import.meta.url).resolve("typescript/package.json")),
  "bin/tsc",
);
execFileSync(
  process.execPath,
  [compiler, "--project", join(root, "deploy/tsconfig.package.json")],
  {
    stdio: "inherit",
  },
);
// The compiler rewrites imports, but not the addresses of threads and processes.
for (const path of globSync("**/*.js", { cwd: target })) {
  const file = join(target, path);
  const text = readFileSync(file, "utf8");
  const rewritten = text.replaceAll(/(new URL\("\.[^"]+)\.ts(", import\.meta\.url\))/g, "$1.js$2");
  if (rewritten !== text) writeFileSync(file, rewritten);
}
// The explorer is bundled from its source when the service starts, with the client that it is built on.
const copied = [
  "explorer/index.html",
  "explorer/style.css",
  "explorer/style",
  "explorer/src",
  "client/src",
  "demo/artefacts",
];
// `npm run guide` builds it; a package without it serves no /guide.
if (existsSync(join(root, "docs/dist"))) copied.push("docs/dist");
for (const path of copied) cpSync(join(root, path), join(target, path), { recursive: true });
