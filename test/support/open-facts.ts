import { basename } from "node:path";
import { after } from "node:test";
import { longRows, schemaStatements } from "../../src/storage/schema.ts";
import { ServerEngine } from "../../src/storage/server/server-engine.ts";
import { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { ClickHouseServer, clusterName } from "./clickhouse/clickhouse-server.ts";

/**
 * Where the facts of a test are: in its data folder; with `ODDWIRE_TEST_ENGINE=server` in a ClickHouse server of the
 * test's process, in a database for each folder; with `ODDWIRE_TEST_ENGINE=shards` in two servers.
 */
const engine = process.env["ODDWIRE_TEST_ENGINE"] ?? "embedded";
const shardsOf: Readonly<Record<string, number>> = { embedded: 0, server: 1, shards: 2 };
const shards = shardsOf[engine];
if (shards === undefined) throw new Error(`there is no engine ${engine} for tests`);

export const isOnServer = shards > 0;

/** Of a test of what only an engine in the folder does: for `skip`. */
export const embeddedOnly = isOnServer && "of the embedded engine alone";

/** The tables that shards share; the others are on the first one. */
const shardedTables = ["fills", "fills_by_token", "minute_candles", "hour_candles"];

let opening: Promise<readonly ClickHouseServer[]> | null = null;
if (isOnServer) {
  after(async () => {
    for (const server of (await opening) ?? []) await server.close();
  });
}

/** Opens the facts of a data folder, to be closed by the caller. */
export async function openFacts(dataDir: string): Promise<IndexedFacts> {
  if (shards === undefined || shards === 0) return IndexedFacts.open(dataDir);
  opening ??= ClickHouseServer.openAll(shards);
  const servers = await opening;
  const database = basename(dataDir).replaceAll("-", "_");
  return IndexedFacts.open(dataDir, async (spoolDir) => {
    const engines: ServerEngine[] = [];
    for (const { url } of servers) {
      const settings = { url, user: "default", password: "", database, spoolDir };
      engines.push(await ServerEngine.open(settings));
    }
    const [first, ...others] = engines;
    if (first === undefined) throw new Error("no server was started");
    if (others.length > 0) await makeShards(engines, database);
    for (const other of others) await other.close();
    return first;
  });
}

/** Makes the tables that shards share, each in a local one of every shard and, on the first, over all of them. */
async function makeShards(engines: readonly ServerEngine[], database: string): Promise<void> {
  const local = `${database}_local`;
  for (const engine of engines) {
    await engine.command(`CREATE DATABASE IF NOT EXISTS ${local}`);
    for (const statement of schemaStatements) {
      await engine.command(statement.replace("IF NOT EXISTS ", `IF NOT EXISTS ${local}.`));
    }
  }
  for (const table of shardedTables) {
    const over = `Distributed('${clusterName}', '${local}', '${table}', cityHash64(token_id))`;
    const statement = `CREATE TABLE IF NOT EXISTS ${table} AS ${local}.${table} ENGINE = ${over}`;
    await engines[0]?.command(`${statement} SETTINGS ${longRows}`);
  }
}
