import { after, type TestContext } from "node:test";
import { pino } from "pino";
import {
  ClusterAccess,
  type ClusterAccessOptions,
} from "../../src/access/cluster/cluster-access.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { schemaStatements } from "../../src/storage/schema/schema.ts";
import { ServerEngine } from "../../src/storage/server/server-engine.ts";
import { cleanUp } from "./clean-up.ts";
import { ClickHouseServer } from "./clickhouse/clickhouse-server.ts";
import { openServerEngine } from "./open-engines.ts";
import { RedisServer } from "./redis/redis-server.ts";
import { waitMsMax } from "./wait-for.ts";

/** What nodes of one cluster share: a real ClickHouse and a real Redis, which end with the test. */
export type TestCluster = {
  readonly clickhouse: ClickHouseServer;
  readonly redis: RedisServer;
  /** In that ClickHouse. */
  readonly engine: ServerEngine;
  /** Opens one more node, or a process that only administers; it is closed after the test. */
  openNode(options?: Partial<ClusterAccessOptions>): Promise<ClusterAccess>;
};

type Servers = Pick<TestCluster, "clickhouse" | "redis">;

/** Starting servers takes seconds on a busy machine: those of a file are used by all its tests. */
let common: Promise<Servers> | null = null;
after(async () => {
  const servers = await common;
  await Promise.all([servers?.clickhouse.close(), servers?.redis.close()]);
});
let clusters = 0;

async function startServers(): Promise<Servers> {
  const [[clickhouse], redis] = await Promise.all([
    ClickHouseServer.openAll(1),
    RedisServer.start(),
  ]);
  if (clickhouse === undefined) throw new Error("no server was started");
  return { clickhouse, redis };
}

/** Opens a cluster without nodes, with servers of its own if the test is to stop them. */
export async function openCluster(
  t: TestContext,
  { ownServers = false }: { readonly ownServers?: boolean } = {},
): Promise<TestCluster> {
  if (!ownServers) common ??= startServers();
  const servers = ownServers ? await openServers(t) : await common;
  if (servers === null) throw new Error("no servers were started");
  const { clickhouse, redis } = servers;
  clusters += 1;
  const database = `cluster_${clusters}`;
  const engine = await openServerEngine(t, clickhouse, { database });
  for (const sql of schemaStatements({ kind: "server", database })) await engine.command(sql);
  const openNode: TestCluster["openNode"] = async (options = {}) => {
    const { url } = clickhouse;
    const place = { url, user: "default", password: "", database, cluster: null, spoolDir: "" };
    const access = await ClusterAccess.open({
      engine: await ServerEngine.open({ ...place, queryTimeoutMs: waitMsMax }),
      redisUrl: redis.url,
      redisPrefix: database,
      pepper: "a pepper that is long enough for a test",
      adminKey: null,
      limitsWithoutRedis: "share",
      isNode: true,
      // A busy machine may let an answer wait for long.
      windowTimeoutMs: waitMsMax,
      clock: systemClock,
      log: pino({ level: "warn" }),
      ...options,
    });
    cleanUp(t, () => access.close());
    return access;
  };
  return { clickhouse, redis, engine, openNode };
}

async function openServers(t: TestContext): Promise<Servers> {
  const [clickhouse, redis] = await Promise.all([ClickHouseServer.open(t), RedisServer.open(t)]);
  return { clickhouse, redis };
}
