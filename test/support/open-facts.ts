import { basename } from "node:path";
import { after } from "node:test";
import { identityOf } from "../../src/storage/identity.ts";
import { openDatabase, type ServerPlace } from "../../src/storage/server/open-database.ts";
import { migrationOf } from "../../src/storage/server/prepare-database.ts";
import { ServerEngine } from "../../src/storage/server/server-engine.ts";
import { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { ClickHouseServer, clusterName } from "./clickhouse/clickhouse-server.ts";
import { realPlace } from "./clickhouse/real-cluster.ts";
import { knownContracts } from "./recorded-chain.ts";

/**
 * Where the facts of a test are: in its data folder; with `ODDWIRE_TEST_ENGINE=server` in a ClickHouse server of the
 * test's process, in a database for each folder; with `ODDWIRE_TEST_ENGINE=shards` in two servers; with
 * `ODDWIRE_TEST_ENGINE=cluster` in the cluster that `realCluster` names.
 */
const engine = process.env["ODDWIRE_TEST_ENGINE"] ?? "embedded";
const shardsOf: Readonly<Record<string, number>> = {
  embedded: 0,
  server: 1,
  shards: 2,
  cluster: 1,
};
const shards = shardsOf[engine];
if (shards === undefined) throw new Error(`there is no engine ${engine} for tests`);

export const isOnServer = shards > 0;

/** Of a test of what only a server without replicas does: for `skip`. */
export const serverOnly = engine !== "server" && "of a server alone";

/** Of a test of what only an engine in the folder does: for `skip`. */
export const embeddedOnly = isOnServer && "of the embedded engine alone";

const user = "default";

let opening: Promise<readonly ClickHouseServer[]> | null = null;
if (isOnServer) {
  after(async () => {
    for (const server of (await opening) ?? []) await server.close();
  });
}

/** Opens the facts of a data folder, to be closed by the caller. */
export async function openFacts(dataDir: string): Promise<IndexedFacts> {
  if (shards === undefined || shards === 0) return IndexedFacts.open(dataDir);
  if (engine === "cluster") {
    const place = realPlace(basename(dataDir).replaceAll("-", "_"));
    return IndexedFacts.open(dataDir, (folder) => openDatabase(place, folder));
  }
  opening ??= ClickHouseServer.openAll(shards);
  const servers = await opening;
  const database = basename(dataDir).replaceAll("-", "_");
  const identity = identityOf(137, knownContracts());
  return IndexedFacts.open(dataDir, async (folder) => {
    const cluster = servers.length > 1 ? clusterName : null;
    const of = { user, password: "", database, cluster, identity };
    const places = servers.map(({ url }) => ({ url, ...of }));
    const [first] = places;
    if (first === undefined) throw new Error("no server was started");
    if (places.length > 1) await makeShards(places, folder);
    return openDatabase(first, folder);
  });
}

/** Makes the tables of a cluster on servers that have no Keeper: nothing is replicated, and each has statements of its own. */
async function makeShards(places: readonly ServerPlace[], folder: string): Promise<void> {
  const [first] = places;
  for (const place of places) {
    const { database } = place;
    const engine = await ServerEngine.openOrMake({ ...place, spoolDir: folder });
    for (const statement of migrationOf(place, 0)) {
      // What is not sharded is on the first one alone.
      const isOfAll = statement.includes(`${database}_local`);
      if (place === first || isOfAll) await engine.command(withoutKeeper(statement));
    }
    await engine.close();
  }
}

function withoutKeeper(statement: string): string {
  return statement
    .replace(` ON CLUSTER '${clusterName}'`, "")
    .replace(/Replicated(\w*MergeTree)\('[^']*', '[^']*'\)/, "$1")
    .replace(
      /, replicated_deduplication_window = .*$/,
      ", non_replicated_deduplication_window = 10000",
    );
}
