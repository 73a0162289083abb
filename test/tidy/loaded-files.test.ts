/** The embedded default loads no files for a server or a cluster, except those of appends and repairs of a database. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const source = new URL("../../src/", import.meta.url);
const ofCluster = /\/cluster\/|^storage\/server\/|redis/;
const ofWriting = ["claims", "complete-append", "repairs"];
/** Matches imports that load a file. Imports of types do not. */
const imports = /^(?:import|export)\s(?!type\s)(?:[^;"]*\sfrom\s)?"(\.[^"]+)"/gm;

/** Returns the files that are loaded when a file is imported. */
function loadedBy(file: URL, loaded = new Set<string>()): ReadonlySet<string> {
  if (loaded.has(file.href)) return loaded;
  loaded.add(file.href);
  for (const [, path = ""] of readFileSync(fileURLToPath(file), "utf8").matchAll(imports)) {
    loadedBy(new URL(path, file), loaded);
  }
  return loaded;
}

function getClusterFiles(role: string): readonly string[] {
  const paths = [...loadedBy(new URL(role, source))].map((href) => href.slice(source.href.length));
  return paths.filter((path) => ofCluster.test(path)).toSorted();
}

test("oddwire serve loads no files for a cluster", () => {
  const expected = ofWriting.map((name) => `storage/server/${name}.ts`);
  assert.deepEqual(getClusterFiles("roles/serve-role.ts"), expected);
  assert(getClusterFiles("roles/api-role.ts").includes("feed/cluster/redis-feed.ts"));
});
