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
import { CuttingProxy } from "./cutting-proxy.ts";
import { openServerEngine } from "./open-engines.ts";
import { RedisServer } from "./redis/redis-server.ts";
import { waitMsMax } from "./wait-for.ts";

/** The parts that nodes of one cluster share: a real ClickHouse behind a proxy, and a real Redis. */
export type TestCluster = {
  readonly clickhouse: CuttingProxy;
  readonly redis: RedisServer;
  /** An engine on that ClickHouse. */
  readonly engine: ServerEngine;
  /** Opens a node, or a process for administration only, and closes it after the test. */
  openNode(options?: Partial<ClusterAccessOptions>): Promise<ClusterAccess>;
};

type Servers = { readonly clickhouse: ClickHouseServer; readonly redis: RedisServer };

/** The servers that all tests of a file share, because starting them takes seconds on a busy machine. */
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

/** Opens a cluster without nodes. With `ownRedis` the test can stop or empty its Redis. */
export async function openCluster(
  t: TestContext,
  { ownRedis = false }: { readonly ownRedis?: boolean } = {},
): Promise<TestCluster> {
  common ??= startServers();
  const servers = await common;
  const redis = ownRedis ? await RedisServer.open(t) : servers.redis;
  clusters += 1;
  const database = `cluster_${clusters}`;
  const engine = await openServerEngine(t, servers.clickhouse, { database });
  const clickhouse = await CuttingProxy.open(t, servers.clickhouse.url);
  const statements = schemaStatements({ kind: "server", database }, engine);
  for (const sql of statements.filter((text) => text.includes("access_log")))
    await engine.command(sql);
  const openNode: TestCluster["openNode"] = async (options = {}) => {
    const { url } = clickhouse;
    const place = { url, user: "default", password: "", database, cluster: null, spoolDir: "" };
    const access = await ClusterAccess.open({
      engine: await ServerEngine.open({ ...place, queryTimeoutMs: waitMsMax }),
      redisUrl: redis.url,
      database,
      pepper: "a pepper that is long enough for a test",
      limitsWithoutRedis: "share",
      isNode: true,
      // On a busy machine a response can take long.
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
