/**
 * Runs tests whose facts are in ClickHouse servers, file by file in one process: the files share the servers, and code
 * that is compiled already. One file runs as well, with `ODDWIRE_TEST_ENGINE=server node --test FILE`.
 */
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";

const root = new URL("../../", import.meta.url);
/** The modules that open facts. What a file imports decides whether it belongs here. */
const openers = /support\/(open-data-server|open-facts|store-folder)/;

/** Runs the tests of a pattern that open facts themselves. */
export async function runOnServer(patterns: readonly string[]): Promise<void> {
  const files = globSync(patterns, { cwd: root });
  await runFiles(
    "server",
    files.filter((file) => openers.test(readFileSync(new URL(file, root), "utf8"))),
  );
}

/** Runs tests on two shards. */
export async function runOnShards(patterns: readonly string[]): Promise<void> {
  await runFiles("shards", globSync(patterns, { cwd: root }));
}

async function runFiles(engine: "server" | "shards", files: readonly string[]): Promise<void> {
  if (files.length === 0) throw new Error("no test matches");
  process.env["ODDWIRE_TEST_ENGINE"] = engine;
  // Loaded outside of all tests, so that the servers run until the last one has ended.
  await import("./open-facts.ts");
  for (const file of files.toSorted()) {
    test(file, async () => {
      await import(new URL(file, root).href);
    });
  }
}
