import { tmpdir } from "node:os";
import type { FactsIdentity } from "../../../src/storage/directory/identity.ts";
import type { ServerDatabase } from "../../../src/storage/server/open-database.ts";
import { databaseStatements } from "../../../src/storage/server/prepare-database.ts";
import { ServerEngine } from "../../../src/storage/server/server-engine.ts";
import { type ClickHouseServer, clusterName } from "./clickhouse-server.ts";

/**
 * Creates a database on one server, or on the shards of `clusterName`, and returns its place. The shards have no
 * Keeper, so the tables of a cluster are created on each server separately, without replicas.
 */
export async function makeDatabase(
  servers: readonly ClickHouseServer[],
  of: { readonly database: string; readonly identity: FactsIdentity },
): Promise<ServerDatabase> {
  const cluster = servers.length > 1 ? clusterName : null;
  const common = { user: "default", password: "", cluster, spoolDir: tmpdir(), ...of };
  const places = servers.map(({ url }) => ({ url, ...common }));
  const [first] = places;
  if (first === undefined) throw new Error("no server was started");
  if (cluster === null) return first;
  for (const place of places) {
    const engine = await ServerEngine.openOrMake(place);
    for (const statement of databaseStatements(place)) {
      // Tables that are not sharded are on the first server only.
      const isOfAll = statement.includes(`${place.database}_local`);
      if (place === first || isOfAll) await engine.command(withoutKeeper(statement));
    }
    await engine.close();
  }
  return first;
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
