/**
 * Runs test files one after the other in one process: they share code that is compiled already, and the servers that
 * `open-facts.ts` starts. One file runs as well, with `node --test FILE`, and on a server with
 * `ODDWIRE_TEST_ENGINE=server`.
 */
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";

const root = new URL("../../", import.meta.url);
/** The modules that open facts. What a file imports decides whether it runs on a server. */
const openers = /support\/(open-data-server|open-facts|store-folder)/;

/** Runs the tests of these patterns. */
export function runFiles(patterns: readonly string[]): void {
  runEach(findFiles(patterns));
}

/** Runs the tests of these patterns that open facts themselves, with the facts in a ClickHouse server. */
export async function runOnServer(patterns: readonly string[]): Promise<void> {
  const files = findFiles(patterns);
  await startServers("server");
  runEach(files.filter((file) => openers.test(readFileSync(new URL(file, root), "utf8"))));
}

/** Runs tests on two shards. */
export async function runOnShards(patterns: readonly string[]): Promise<void> {
  await startServers("shards");
  runEach(findFiles(patterns));
}

function findFiles(patterns: readonly string[]): readonly string[] {
  return globSync(patterns, { cwd: root }).toSorted();
}

async function startServers(engine: "server" | "shards"): Promise<void> {
  process.env["ODDWIRE_TEST_ENGINE"] = engine;
  // Loaded outside of all tests, so that the servers run until the last one has ended.
  await import("./open-facts.ts");
}

function runEach(files: readonly string[]): void {
  if (files.length === 0) throw new Error("no test matches");
  for (const file of files) {
    test(file, async () => {
      await import(new URL(file, root).href);
    });
  }
}
