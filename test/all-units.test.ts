/**
 * The tests next to the code, in one process: each takes milliseconds, and a process of its own for each file cost
 * more than all of them. `node --test` takes a single file as well.
 */
import { globSync } from "node:fs";

const root = new URL("../", import.meta.url);
for (const file of globSync("src/**/*.test.ts", { cwd: root }).toSorted()) {
  await import(new URL(file, root).href);
}
