/** The client as it would be published: plain JavaScript with types, without dependencies. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import type * as client from "../../clients/typescript/src/client.ts";
import { cleanUp } from "../support/clean-up.ts";

/** A program that does not compile if the types of the package are not found. */
const consumer = `
import { OddwireClient } from "./client.js";
type Health = Awaited<ReturnType<OddwireClient["health"]>>;
type IsUnknown = 0 extends 1 & Health ? true : false;
export const isUnknown: IsUnknown = false;
`;

const project = fileURLToPath(new URL("../../clients/typescript/tsconfig.json", import.meta.url));
const compiler = fileURLToPath(import.meta.resolve("typescript/package.json")).replace(
  "package.json",
  join("bin", "tsc"),
);

test("the package builds, loads, and imports no other package", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-client-"));
  cleanUp(t, async () => rm(folder, { recursive: true }));
  execFileSync(process.execPath, [compiler, "--project", project, "--outDir", folder]);
  const names = await readdir(folder);
  const sources = await readdir(new URL("../../clients/typescript/src/", import.meta.url));
  for (const name of sources) {
    assert.ok(names.includes(name.replace(".ts", ".js")), name);
    assert.ok(names.includes(name.replace(".ts", ".d.ts")), name);
  }
  for (const name of names.filter((name) => name.endsWith(".js"))) {
    const text = await readFile(join(folder, name), "utf8");
    const imported = [...text.matchAll(/from "([^"]+)"/g)].map(([, specifier]) => specifier);
    for (const specifier of imported) assert.match(specifier ?? "", /^\.\/[a-z0-9-]+\.js$/, name);
  }
  await writeFile(join(folder, "consumer.ts"), consumer);
  const options = ["--noEmit", "--strict", "--module", "nodenext", "consumer.ts"];
  execFileSync(process.execPath, [compiler, ...options], { cwd: folder });
  const built = (await import(pathToFileURL(join(folder, "client.js")).href)) as typeof client;
  assert.ok(new built.OddwireClient({ url: "http://127.0.0.1:8080" }).trades());
});
