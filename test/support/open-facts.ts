import { basename } from "node:path";
import { after } from "node:test";
import { identityOf } from "../../src/storage/identity.ts";
import { openDatabase } from "../../src/storage/server/open-database.ts";
import { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { ClickHouseServer } from "./clickhouse/clickhouse-server.ts";
import { makeDatabase } from "./clickhouse/make-database.ts";
import { realPlace } from "./clickhouse/real-cluster.ts";
import { knownContracts } from "./recorded-chain.ts";

/**
 * Where the facts of a test are: in its data folder; with `ODDWIRE_TEST_ENGINE=server` in a ClickHouse server of the
 * test's process, in a database for each folder; with `ODDWIRE_TEST_ENGINE=shards` in two servers; with
 * `ODDWIRE_TEST_ENGINE=cluster` in the cluster that `realCluster` names.
 */
const engine = process.env["ODDWIRE_TEST_ENGINE"] ?? "embedded";
const serversOf: Readonly<Record<string, number>> = {
  embedded: 0,
  server: 1,
  shards: 2,
  cluster: 1,
};
const servers = serversOf[engine];
if (servers === undefined) throw new Error(`there is no engine ${engine} for tests`);

/** How many ClickHouse servers the facts of a test are on, as shards when there are several. */
export const serverCount: number = servers;

export const isOnServer = serverCount > 0;

/** Of a test of what only a server without replicas does: for `skip`. */
export const serverOnly = engine !== "server" && "of a server alone";

/** Of a test of what only an engine in the folder does: for `skip`. */
export const embeddedOnly = isOnServer && "of the embedded engine alone";

let opening: Promise<readonly ClickHouseServer[]> | null = null;
if (isOnServer) {
  after(async () => {
    for (const server of (await opening) ?? []) await server.close();
  });
}

/** Opens the facts of a data folder, to be closed by the caller. */
export async function openFacts(dataDir: string): Promise<IndexedFacts> {
  if (!isOnServer) return IndexedFacts.open(dataDir);
  if (engine === "cluster") {
    const place = realPlace(basename(dataDir).replaceAll("-", "_"));
    return IndexedFacts.open(dataDir, (folder) => openDatabase(place, folder));
  }
  opening ??= ClickHouseServer.openAll(serverCount);
  const servers = await opening;
  const database = basename(dataDir).replaceAll("-", "_");
  const identity = identityOf(137, knownContracts());
  return IndexedFacts.open(dataDir, async (folder) => {
    return openDatabase(await makeDatabase(servers, { database, identity }), folder);
  });
}
