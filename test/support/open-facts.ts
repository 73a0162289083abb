import { basename } from "node:path";
import { after } from "node:test";
import { ServerEngine } from "../../src/storage/server/server-engine.ts";
import { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { ClickHouseServer } from "./clickhouse/clickhouse-server.ts";

/**
 * With `ODDWIRE_TEST_ENGINE=server` the facts are in a ClickHouse server of the test's process, in a database for each
 * data folder; else in the folder.
 */
export const isOnServer = process.env["ODDWIRE_TEST_ENGINE"] === "server";

/** Of a test of what only an engine in the folder does: for `skip`. */
export const embeddedOnly = isOnServer && "of the embedded engine alone";

let server: Promise<ClickHouseServer> | null = null;
if (isOnServer) after(async () => (await server)?.close());

/** Opens the facts of a data folder, to be closed by the caller. */
export async function openFacts(dataDir: string): Promise<IndexedFacts> {
  if (!isOnServer) return IndexedFacts.open(dataDir);
  server ??= ClickHouseServer.open();
  const { url } = await server;
  const database = basename(dataDir).replaceAll("-", "_");
  return IndexedFacts.open(dataDir, (spoolDir) =>
    ServerEngine.open({ url, user: "default", password: "", database, spoolDir }),
  );
}
