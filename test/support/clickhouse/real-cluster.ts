import { tmpdir } from "node:os";
import { toIdentity } from "../../../src/storage/directory/identity.ts";
import type { ServerDatabase } from "../../../src/storage/server/open-database.ts";
import { knownContracts } from "../recorded-chain.ts";

/** The cluster that the settings of `npm run test:cluster` name; `null` without settings. */
export const realCluster = readRealCluster();

/** The `skip` option of tests that need a real cluster. */
export const clusterOnly = realCluster === null && "ODDWIRE_TEST_CLICKHOUSE_URL is not set";

type RealCluster = Omit<ServerDatabase, "database" | "identity" | "spoolDir"> & {
  /** Another replica of the first shard. */
  readonly replicaUrl: string | null;
};

function readRealCluster(): RealCluster | null {
  const read = (name: string) => process.env[`ODDWIRE_TEST_CLICKHOUSE_${name}`] ?? null;
  const [url, cluster] = [read("URL"), read("CLUSTER")];
  if (url === null || cluster === null) return null;
  const [user, password] = [read("USER") ?? "default", read("PASSWORD") ?? ""];
  return { url, cluster, user, password, replicaUrl: read("REPLICA_URL") };
}

/** The place of a database on that cluster, for the facts of the recorded contracts. */
export function realPlace(database: string): ServerDatabase {
  if (realCluster === null)
    throw new Error("ODDWIRE_TEST_CLICKHOUSE_URL and _CLUSTER are required");
  const { url, cluster, user, password } = realCluster;
  const identity = toIdentity(137, knownContracts());
  return { url, cluster, user, password, database, identity, spoolDir: tmpdir() };
}
