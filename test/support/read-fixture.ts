import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

/** The content of a gzipped JSON file below `test/fixtures`; the caller knows its shape. */
export function readFixture(path: string): unknown {
  const file = new URL(`../fixtures/${path}`, import.meta.url);
  return JSON.parse(gunzipSync(readFileSync(file)).toString("utf8"));
}
