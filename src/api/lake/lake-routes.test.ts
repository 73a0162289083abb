import assert from "node:assert/strict";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import Fastify from "fastify";
import { cleanUp } from "../../../test/support/clean-up.ts";
import { lakeRoutes } from "./lake-routes.ts";

test("a manifest that an export replaces meanwhile is served whole, old or new", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  const server = Fastify();
  cleanUp(t, async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });
  const replace = async (length: number) => {
    const path = join(folder, "manifest.json");
    await writeFile(`${path}.draft`, JSON.stringify("x".repeat(length)));
    await rename(`${path}.draft`, path);
  };
  await replace(1);
  const { getLake } = lakeRoutes(folder);
  assert(getLake !== undefined);
  server.get("/", getLake.handler);
  const url = await server.listen({ port: 0, host: "127.0.0.1" });
  const done = new AbortController();
  const replacing = (async () => {
    for (let count = 0; !done.signal.aborted; count += 1)
      await replace(count % 2 === 0 ? 100_000 : 1);
  })();
  try {
    for (let count = 0; count < 200; count += 1) {
      const answer = await fetch(url, { signal: AbortSignal.timeout(20_000) });
      const { length } = (await answer.json()) as string;
      assert(length === 1 || length === 100_000);
    }
  } finally {
    done.abort();
    await replacing;
  }
});
