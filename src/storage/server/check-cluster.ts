import { serverLimits } from "../../base/config/limits.ts";
import type { Engine, Row } from "../engine/engine.ts";
import { replicatedTables } from "../schema/schema.ts";
import { localDatabase, type SchemaTarget } from "../schema/schema-target.ts";
import { wordLiteral } from "../sql-literal.ts";

/** A cluster, and the database on it. */
type ClusterTarget = Extract<SchemaTarget, { readonly kind: "cluster" }>;

/** A named check. `work` rejects with one sentence that says what is wrong. */
export type Check = readonly [subject: string, work: () => Promise<unknown>];

/** Returns the checks that apply to clusters only. */
export function clusterChecks(engine: Engine, target: ClusterTarget): readonly Check[] {
  return [
    ["servers of the cluster", () => refuseUnknownCluster(engine, target)],
    ["versions", () => refuseDifferentVersions(engine, target)],
    ["clocks", () => refuseDifferentClocks(engine, target)],
    ["macros", () => refuseWrongMacros(engine, target)],
    ["replicas", () => refuseLaggingReplicas(engine, target)],
    ["insert quorum", () => refuseNoQuorum(engine, target)],
  ];
}

const server = "concat(hostName(), ':', toString(tcpPort()))";

/** Reads a system table of every server of a cluster. Rejects unless all servers answer. */
function askAll(
  engine: Engine,
  { cluster }: ClusterTarget,
  requested: { readonly columns: string; readonly table: string; readonly where?: string },
): Promise<readonly Row[]> {
  const { columns, table, where = "1" } = requested;
  return engine.query(
    `SELECT ${server} AS server, ${columns} FROM clusterAllReplicas(${wordLiteral(cluster)}, system.${table})
     WHERE ${where} ORDER BY server`,
  );
}

async function refuseUnknownCluster(engine: Engine, { cluster }: ClusterTarget): Promise<void> {
  const rows = await engine.query(
    `SELECT host_name, internal_replication FROM system.clusters WHERE cluster = ${wordLiteral(cluster)}`,
  );
  if (rows.length === 0) {
    const names = await engine.query(
      "SELECT DISTINCT cluster FROM system.clusters ORDER BY cluster",
    );
    const existing = names.map(([name]) => String(name)).join(", ");
    throw new Error(`the server knows no cluster ${cluster}; it knows: ${existing || "none"}`);
  }
  const without = rows.filter(([, isInternal]) => Number(isInternal) === 0);
  if (without.length === 0) return;
  throw new Error(
    `internal_replication is off for ${getList(without)}: rows would be inserted into each replica; set it in remote_servers`,
  );
}

async function refuseDifferentVersions(engine: Engine, target: ClusterTarget): Promise<void> {
  const rows = await askAll(engine, target, { columns: "version()", table: "one" });
  if (new Set(rows.map(([, version]) => version)).size === 1) return;
  throw new Error(`servers differ: ${getList(rows)}; bring them to one version`);
}

async function refuseDifferentClocks(engine: Engine, target: ClusterTarget): Promise<void> {
  const rows = await askAll(engine, target, {
    columns: "toUnixTimestamp64Milli(nowInBlock64(3))",
    table: "one",
  });
  const times = rows.map(([, time]) => Number(time));
  const apartMs = Math.max(...times) - Math.min(...times);
  if (apartMs <= serverLimits.clockDifferenceMs) return;
  throw new Error(
    `clocks are ${Math.round(apartMs / 1000)} s apart; run a time service on each server`,
  );
}

/** Checks the macros that name the place of a server. Two servers with the same macros would overwrite each other. */
async function refuseWrongMacros(engine: Engine, target: ClusterTarget): Promise<void> {
  const servers = await askAll(engine, target, { columns: "1", table: "one" });
  const macros = await askAll(engine, target, { columns: "macro, substitution", table: "macros" });
  const of = (name: unknown, macro: string) =>
    macros.find((row) => row[0] === name && row[1] === macro)?.[2];
  const members = servers.map(([name]) => ({
    name: String(name),
    shard: of(name, "shard"),
    replica: of(name, "replica"),
  }));
  const without = members.filter(
    ({ shard, replica }) => shard === undefined || replica === undefined,
  );
  if (without.length > 0) {
    const names = without.map(({ name }) => name).join(", ");
    throw new Error(
      `no macros shard and replica on ${names}; set them in the server's configuration`,
    );
  }
  const existing = new Map<string, string>();
  for (const { name, shard, replica } of members) {
    const key = `shard ${String(shard)}, replica ${String(replica)}`;
    const other = existing.get(key);
    if (other !== undefined) throw new Error(`${other} and ${name} are both ${key}`);
    existing.set(key, name);
  }
}

async function refuseLaggingReplicas(engine: Engine, target: ClusterTarget): Promise<void> {
  const { database } = target;
  const names = replicatedTables(target, engine);
  const databases = [database, localDatabase(database)].map(wordLiteral).join(", ");
  const rows = await askAll(engine, target, {
    columns:
      "concat(database, '.', table), is_readonly, absolute_delay, total_replicas - active_replicas",
    table: "replicas",
    where: `database IN (${databases})`,
  });
  const existing = new Set(rows.map(([, name]) => name));
  const without = names.filter((name) => !existing.has(name));
  if (without.length > 0) throw new Error(`not replicated: ${without.join(", ")}`);
  for (const [name, table, isReadonly, delaySeconds, missing] of rows) {
    const at = `${String(table)} on ${String(name)}`;
    if (Number(isReadonly) === 1) throw new Error(`${at} is read-only: its Keeper does not answer`);
    if (Number(missing) > 0) throw new Error(`${at} has ${Number(missing)} replicas that are down`);
    if (Number(delaySeconds) > serverLimits.replicaDelaySecondsMax) {
      throw new Error(`${at} is ${Number(delaySeconds)} s behind`);
    }
  }
}

async function refuseNoQuorum(engine: Engine, { cluster }: ClusterTarget): Promise<void> {
  const [replicas] = await engine.query(
    `SELECT max(replica_num) FROM system.clusters WHERE cluster = ${wordLiteral(cluster)}`,
  );
  const [quorum] = await engine.query(
    "SELECT value FROM system.settings WHERE name = 'insert_quorum'",
  );
  if (Number(replicas?.[0]) < 2 || String(quorum?.[0]) !== "0") return;
  throw new Error(
    "an insert is acknowledged by one replica alone; set insert_quorum = 'auto' in the profile of the user",
  );
}

function getList(rows: readonly Row[]): string {
  return rows.map((row) => row.map(String).join(" ")).join(", ");
}
