/**
 * A cluster of real processes on a real ClickHouse and a real Redis. `CLUSTER_LAG_SECONDS` is the largest lag of a table
 * of a replica.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { WebSocket } from "ws";
import type { Hash } from "../../src/base/ids.ts";
import { RedisConnection } from "../../src/base/redis/redis-connection.ts";
import { isTrade } from "../../src/market/fill.ts";
import { orderRepair } from "../../src/storage/recovery/repair.ts";
import { tables } from "../support/append-part.ts";
import { assertTradesServed } from "../support/assert-trades-served.ts";
import { cleanUp } from "../support/clean-up.ts";
import { LaggingProxy } from "../support/clickhouse/lagging-proxy.ts";
import { describedMarkets, openClusterScene } from "../support/cluster-scene.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import type { LiveChain } from "../support/live-chain.ts";
import { openServerEngine } from "../support/open-engines.ts";
import { RedisServer } from "../support/redis/redis-server.ts";
import { adminKey, type Page, type Service } from "../support/service.ts";
import { silentLog } from "../support/silent-log.ts";
import { encode, getFacts } from "../support/store-chain.ts";
import { waitFor } from "../support/wait-for.ts";
import { WanderingReader } from "../support/wandering-reader.ts";

/** A node that is a minute of chain time behind is not ready. That is only a few blocks. */
const blockEveryMs = 1000;
const lagMsMax = Number(process.env["CLUSTER_LAG_SECONDS"] ?? 2) * 1000;

test("a serving node serves the trades and markets that the indexer indexes", async (t) => {
  const { chain, start } = await openClusterScene(t);
  chain.goOn(blockEveryMs);
  await start("index", "index");
  const api = await start("api", "api");
  await api.waitReady();
  await api.waitIndexed(chain.head);
  chain.stop();
  chain.settle();
  await api.waitFinalized(chain.head);
  await assertTradesServed(api, chain);
  await waitFor("the market metadata", () => describedMarkets(api));
});

test("a standby indexer takes over from an active one that was killed", async (t) => {
  const { chain, start } = await openClusterScene(t);
  chain.goOn(blockEveryMs);
  const active = await start("index", "a");
  const standby = await start("index", "b");
  const api = await start("api", "api");
  await api.waitReady();
  const { body } = await standby.request("/v1/ready");
  const { role, checks } = body as { role: string; checks: Record<string, { detail: string }> };
  assert.equal(role, "index");
  assert.match(checks["standby"]?.detail ?? "", /^stands by; active: \S+, term \d+$/);
  const metrics = await standby.request("/v1/metrics");
  assert.equal(metrics.status, 200);
  const { cluster } = metrics.body as { cluster: { indexer_active: boolean; redis_up: boolean } };
  assert.deepEqual([cluster.indexer_active, cluster.redis_up], [false, true]);
  await active.kill9();
  const killedAt = chain.head;
  await api.waitIndexed(killedAt + 2);
  chain.stop();
  chain.settle();
  await api.waitFinalized(chain.head);
  await assertTradesServed(api, chain);
});

test("an active indexer that waits for its endpoints does not report that it stands by", async (t) => {
  const { chain, start } = await openClusterScene(t);
  const endpoint = await CuttingProxy.open(t, chain.node.url);
  endpoint.stall();
  assert.equal(await (await start("index", "index")).stop(), 0);
  const index = await start("index", "index", { ODDWIRE_RPC_URLS: endpoint.url });
  await waitFor("the role", async () => {
    const { body } = await index.request("/v1/ready");
    const { checks } = body as { checks: Record<string, { detail: string }> };
    assert.doesNotMatch(checks["standby"]?.detail ?? "", new RegExp(`:${index.pid},`));
    return "active" in checks ? true : null;
  });
});

test("an indexer that takes over is not ready before it has loaded the facts", async (t) => {
  const { chain, clickhouse, start } = await openClusterScene(t);
  chain.goOn(blockEveryMs);
  const active = await start("index", "a");
  const proxy = await CuttingProxy.open(t, clickhouse.url);
  const standby = await start("index", "b", { ODDWIRE_CLICKHOUSE_URL: proxy.url });
  await standby.waitReady();
  proxy.stall();
  await active.kill9();
  await standby.waitUnready("active");
  proxy.resume();
  await standby.waitReady();
});

test("a standby indexer is not ready while Redis refuses to write", async (t) => {
  const { redis, start } = await openClusterScene(t);
  const connection = await RedisConnection.open({ url: redis.url, log: silentLog });
  cleanUp(t, () => connection.close());
  // A replica refuses to write.
  const replicate = (...primary: readonly string[]) =>
    connection.run((client) => client.sendCommand(["REPLICAOF", ...primary]));
  await replicate("127.0.0.1", "1");
  const index = await start("index", "index");
  await index.waitUnready("standby");
  await replicate("NO", "ONE");
  await index.waitReady();
});

test("R18: no list loses a trade while the tables of a node lag by different amounts", async (t) => {
  const { chain, clickhouse, random, start } = await openClusterScene(t);
  chain.goOn(blockEveryMs / 4);
  const index = await start("index", "index");
  await index.waitReady();
  const proxy = await LaggingProxy.open(t, clickhouse, "facts");
  const api = await start("api", "api", { ODDWIRE_CLICKHOUSE_URL: proxy.url });
  await api.waitReady();
  const balancer = { pickUrl: () => api.baseUrl, wasKilled: () => false };
  const reader = WanderingReader.start(balancer, adminKey);
  cleanUp(t, () => reader.close());
  const endMs = performance.now() + 5 * lagMsMax;
  const lagging = tables.map(async (table) => {
    while (performance.now() < endMs) {
      await proxy.hold(table);
      await delay(random.next() * lagMsMax);
      proxy.release(table);
      await delay(random.next() * 100);
    }
  });
  const collecting = collectFinalTrades(api, chain, endMs);
  await Promise.allSettled([collecting, ...lagging]);
  const served = await collecting;
  chain.stop();
  chain.settle();
  await api.waitFinalized(chain.head);
  await assertTradesServed(api, chain);
  const all = await api.getAllPages("/v1/trades?order=asc&limit=1000");
  const ids = all.map(({ id }) => id);
  assert(served.size > 0);
  assertHas(ids, served);
  const isRead = () => reader.failure !== null || reader.ids.length >= ids.length;
  await waitFor("all trades in pages", async () => (isRead() ? true : null));
  await reader.close();
  assert.deepEqual(reader.ids, ids);
});

/** Reads all trades repeatedly. Asserts that each list has the trades of final blocks of the list before. */
async function collectFinalTrades(
  api: Service,
  chain: LiveChain,
  untilMs: number,
): Promise<ReadonlySet<unknown>> {
  let served: ReadonlySet<unknown> = new Set();
  while (performance.now() < untilMs) {
    const rows = await api.getAllPages("/v1/trades?order=asc&limit=1000");
    assertHas(
      rows.map(({ id }) => id),
      served,
    );
    const hashes = new Set(chain.finalBlocks.map(({ block }) => block.hash));
    const final = rows.filter((row) => hashes.has(row["block_hash"] as Hash));
    served = new Set(final.map(({ id }) => id));
  }
  return served;
}

function assertHas(ids: readonly unknown[], served: ReadonlySet<unknown>): void {
  const here = new Set(ids);
  const gone = [...served].filter((id) => !here.has(id));
  assert.deepEqual(gone.slice(0, 3), [], `${gone.length} trades are gone`);
}

test("blocks reach a serving node after the Redis behind their address was demoted", async (t) => {
  const { chain, redis, start } = await openClusterScene(t);
  const other = await RedisServer.open(t);
  const replicate = async (server: RedisServer, primary: readonly [string, string]) => {
    const connection = await RedisConnection.open({ url: server.url, log: silentLog });
    cleanUp(t, () => connection.close());
    await connection.run((client) => client.sendCommand(["REPLICAOF", ...primary]));
    connection.close();
  };
  await replicate(other, ["127.0.0.1", new URL(redis.url).port]);
  const proxy = await CuttingProxy.open(t, redis.url);
  const settings = { ODDWIRE_REDIS_URL: proxy.url.replace("http", "redis") };
  chain.goOn(blockEveryMs);
  await start("index", "index", settings);
  const api = await start("api", "api", settings);
  await api.waitReady();
  await replicate(other, ["NO", "ONE"]);
  proxy.leadTo(other.url, { isKept: true });
  // Nothing that is written to the new one reaches the old one, whose connections stay open.
  await replicate(redis, ["127.0.0.1", "1"]);
  chain.holdFinality();
  await api.waitIndexed(chain.head + 3);
  await api.waitReady();
});

test("R13: a node that loses ClickHouse and Redis returns 503 within 3 s and closes its streams", async (t) => {
  const { chain, clickhouse, redis, start } = await openClusterScene(t);
  chain.goOn(blockEveryMs);
  await start("index", "index");
  const proxy = await CuttingProxy.open(t, clickhouse.url);
  const api = await start("api", "api", { ODDWIRE_CLICKHOUSE_URL: proxy.url });
  await api.waitReady();
  const ask = () => api.request("/v1/trades?limit=1");
  assert.equal((await ask()).status, 200);
  const headers = { "x-api-key": adminKey };
  const socket = new WebSocket(`${api.baseUrl.replace("http", "ws")}/v1/stream`, { headers });
  socket.on("error", () => {});
  await once(socket, "open");
  const closed = once(socket, "close");
  redis.pause();
  proxy.stall();
  const cutAtMs = performance.now();
  let admittedAtMs = cutAtMs;
  const refused = await waitFor("a refusal", async () => {
    const requestedAtMs = performance.now();
    const answer = await ask();
    if (answer.status !== 200) return answer;
    admittedAtMs = requestedAtMs;
    return null;
  });
  assert.equal(refused.status, 503);
  assert(refused.headers.has("retry-after"));
  assert(admittedAtMs - cutAtMs <= 3000, "no longer than its validity");
  await closed;
  const isLogged = async () => (api.stderr.includes("the feed cannot be read") ? true : null);
  await waitFor("a warning in the log", isLogged);
  redis.resume();
  proxy.resume();
  await waitFor("an answer", async () => ((await ask()).status === 200 ? true : null));
});

test("a serving node loads repaired blocks again", async (t) => {
  const { chain, clickhouse, start } = await openClusterScene(t);
  chain.grow(60);
  chain.settle();
  const index = await start("index", "index");
  const api = await start("api", "api");
  await api.waitFinalized(chain.head);
  const before = await readVolumes(api);
  await index.kill9();
  // Ordered like a repair by an audit, but of a correct block, which then has no fills.
  const engine = await openServerEngine(t, clickhouse, { database: "facts" });
  const block = getFacts(chain.blocks).findLast(({ fills }) => fills.filter(isTrade).length > 2);
  assert(block !== undefined);
  await orderRepair(engine, encode([{ ...block, fills: [], anomalies: [] }]));
  // Without an audit, which would find that the repair was wrong.
  const repairing = await start("index", "index", { ODDWIRE_AUDIT_CALLS_PER_MINUTE: "0" });
  await waitFor("the repaired volumes", async () => {
    const now = await readVolumes(api).catch(() => before);
    return isDeepStrictEqual(now, before) ? null : now;
  });
  await repairing.kill9();
  const fresh = await start("api", "fresh");
  await waitFor("equal volumes", async () => {
    const [one, other] = await Promise.all([readVolumes(api), readVolumes(fresh)]);
    return isDeepStrictEqual(one, other) ? true : null;
  });
  const path = `/v1/trades?from_block=${block.number}&to_block=${block.number}`;
  for (const node of [api, fresh]) assert.deepEqual((await node.get<Page>(path)).data, []);
});

test("a cluster moves to a newly indexed database and keeps its keys", async (t) => {
  const { chain, clickhouse, start } = await openClusterScene(t);
  chain.grow(60);
  chain.settle();
  await start("index", "index");
  const before = await start("api", "api");
  await before.waitFinalized(chain.head);
  const created = await fetch(`${before.baseUrl}/v1/keys`, {
    method: "POST",
    headers: { "x-api-key": adminKey, "content-type": "application/json" },
    body: '{"name":"reader"}',
  });
  assert.equal(created.status, 201);
  const { key } = ((await created.json()) as { data: { key: string } }).data;
  // As described in docs/clickhouse.md.
  const again = { ODDWIRE_CLICKHOUSE_DATABASE: "again" };
  const index = await start("index", "index-again", again);
  await index.waitReady();
  await clickhouse.ask("INSERT INTO again.access_log SELECT * FROM facts.access_log");
  const api = await start("api", "api-again", again);
  await api.waitFinalized(chain.head);
  await assertTradesServed(api, chain);
  const { status } = await api.request("/v1/trades", { "x-api-key": key });
  assert.equal(status, 200);
});

/** The volume and trades of each market, from the views of a node. */
async function readVolumes(api: Service): Promise<readonly unknown[]> {
  const rows = await api.getAllPages("/v1/markets?limit=100&sort=created_at&order=asc");
  return rows.map((row) => [row["id"], row["volume_usd"], row["trades"]]);
}
