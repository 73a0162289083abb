import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext } from "node:test";
import { ChdbEngine } from "../../src/storage/embedded/chdb-engine.ts";
import type { Engine } from "../../src/storage/engine/engine.ts";
import { ServerEngine, type ServerSettings } from "../../src/storage/server/server-engine.ts";
import { cleanUp } from "./clean-up.ts";
import { ClickHouseServer } from "./clickhouse/clickhouse-server.ts";

/** Opens each adapter of `Engine` on an empty store, which is deleted after the test. */
export const engineOpeners: Readonly<Record<string, (t: TestContext) => Promise<Engine>>> = {
  embedded: async (t) => closed(t, await ChdbEngine.open(await makeFolder(t))),
  server: openSharedServerEngine,
};

let sharedServer: Promise<readonly ClickHouseServer[]> | null = null;
let databases = 0;

/** Opens an empty database on a server that the tests of a process share. */
async function openSharedServerEngine(t: TestContext): Promise<ServerEngine> {
  sharedServer ??= ClickHouseServer.openAll(1);
  const [server] = await sharedServer;
  assert(server !== undefined);
  databases += 1;
  return openServerEngine(t, server, { database: `test_${databases}` });
}

after(async () => {
  for (const server of (await sharedServer) ?? []) await server.close();
});

/** Opens a database on a server. */
export async function openServerEngine(
  t: TestContext,
  server: { readonly url: string },
  settings: Partial<ServerSettings> = {},
): Promise<ServerEngine> {
  const spoolDir = await makeFolder(t);
  const { url } = server;
  const defaults = {
    url,
    user: "default",
    password: "",
    database: "oddwire",
    cluster: null,
    spoolDir,
  };
  return closed(t, await ServerEngine.openOrMake({ ...defaults, ...settings }));
}

/** Closes the engine after the test, before its server or folder is removed. */
function closed<Opened extends Engine>(t: TestContext, engine: Opened): Opened {
  cleanUp(t, () => engine.close());
  return engine;
}

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  cleanUp(t, () => rm(folder, { recursive: true, force: true }));
  return folder;
}
