import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

/** Reads a gzipped JSON file below `test/fixtures`. The caller casts it to its type. */
export function readFixture(path: string): unknown {
  const file = new URL(`../fixtures/${path}`, import.meta.url);
  return JSON.parse(gunzipSync(readFileSync(file)).toString("utf8"));
}
