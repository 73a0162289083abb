/**
 * A cluster on this machine, with a real ClickHouse and a real Redis. Measures how fast an indexer backfills, how soon
 * a serving node is ready on a first and a second start, how soon a serving node has a new block after the active
 * indexer was killed, the memory of Redis, and the throughput of two serving nodes compared with one. Arguments:
 * millions of logs in the store (default 0.3), and `nodes` to measure only the throughput.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { RedisConnection } from "../src/base/redis.ts";
import { ClickHouseServer } from "../test/support/clickhouse/clickhouse-server.ts";
import { RedisServer } from "../test/support/redis/redis-server.ts";
import { adminKey, type Page, Service } from "../test/support/service.ts";
import { silentLog } from "../test/support/silent-log.ts";
import { killServers, startServer } from "./child-server.ts";
import { contractsFromBlock0 } from "./endless-node.ts";
import { runClosedLoop } from "./http-load.ts";
import { measureStart, readUsage, seconds } from "./measure-start.ts";
import { median } from "./median.ts";

const blocks = Math.round((Number(process.argv[2] ?? 0.3) * 1_000_000) / 112);
const isOfNodes = process.argv[3] === "nodes";
const newBlockEveryMs = 1500;
const starts = 3;
const failovers = 5;
const loads = 5;
const loadMs = 3000;

const { model = "unknown" } = cpus()[0] ?? {};
console.log(`${model}, ${availableParallelism()} cores, node ${process.version}`);
const dir = await mkdtemp(join(tmpdir(), "oddwire-bench-"));
const [clickhouse] = await ClickHouseServer.openAll(1);
const redis = await RedisServer.start();
const services = new Set<Service>();
try {
  assert(clickhouse !== undefined);
  const node = await startServer("endless-node.ts", [blocks, 60, newBlockEveryMs].map(String));
  const contracts = join(dir, "contracts.json");
  await writeFile(contracts, JSON.stringify(contractsFromBlock0()));
  const settings = {
    ODDWIRE_CONTRACTS_FILE: contracts,
    ODDWIRE_START_BLOCK: "0",
    ODDWIRE_CLICKHOUSE_URL: clickhouse.url,
    ODDWIRE_REDIS_URL: redis.url,
    ODDWIRE_HMAC_PEPPER: "a pepper that is long enough for a benchmark",
    // Readiness requests from a trusted proxy do not count against a limit.
    ODDWIRE_TRUSTED_PROXIES: "127.0.0.1",
    ODDWIRE_RATE_LIMIT_ADMIN: "10000000",
  };
  const optionsOf = (role: "index" | "api", name: string) => {
    return { role, rpcUrls: [node.url], dataDir: join(dir, name), settings };
  };
  await measure(optionsOf);
} finally {
  await Promise.all([...services].map((service) => service.kill9()));
  killServers();
  await Promise.all([redis.close(), clickhouse?.close()]);
  await rm(dir, { recursive: true, force: true });
}

type OptionsOf = (role: "index" | "api", name: string) => Parameters<typeof Service.open>[0];

async function measure(optionsOf: OptionsOf): Promise<void> {
  const startedAtMs = performance.now();
  const first = await track(Service.open(optionsOf("index", "index-a")));
  const api = await track(Service.open(optionsOf("api", "api-a")));
  await reached(api, blocks - 1);
  const tookMs = performance.now() - startedAtMs;
  const logs = blocks * 112;
  console.log(`backfill of ${logs} logs: ${Math.round((logs / tookMs) * 1000)}/s, starts included`);
  if (!isOfNodes) {
    await measureReady(optionsOf);
    await measureFailover({ api, active: first, optionsOf });
    console.log(`Redis: ${((await usedBytes()) / 2 ** 20).toFixed(1)} MiB`);
  }
  await measureNodes([api, await track(Service.open(optionsOf("api", "api-b")))]);
  console.log(`load of the machine ${loadavg()[0]?.toFixed(1)}`);
}

async function measureReady(optionsOf: OptionsOf): Promise<void> {
  const took: Record<string, number[]> = { "on a first start": [], "on a second start": [] };
  for (let round = 0; round < starts; round += 1) {
    for (const times of Object.values(took)) {
      const { service, readyMs } = await measureStart(optionsOf("api", `api-started-${round}`));
      times.push(readyMs);
      await pause(2000);
      await service.stop();
    }
  }
  for (const [how, times] of Object.entries(took)) {
    console.log(`serving node ready ${how}: ${seconds(median(times))} (goal: 3 s at 1 M)`);
  }
}

/**
 * Kills the active indexer several times. Each time the standby becomes active, and a new standby starts before the
 * next kill.
 */
async function measureFailover(parts: {
  readonly api: Service;
  readonly active: Service;
  readonly optionsOf: OptionsOf;
}): Promise<void> {
  let { active } = parts;
  const took: number[] = [];
  for (let round = 0; round < failovers; round += 1) {
    const standby = await track(Service.open(parts.optionsOf("index", `index-${round}`)));
    await pause(1000);
    const killedAtMs = performance.now();
    await active.kill9();
    services.delete(active);
    await reached(parts.api, (await indexedBlock(parts.api)) + 1);
    took.push(performance.now() - killedAtMs);
    active = standby;
  }
  console.log(
    `new block after kill -9 of the active indexer: median ${seconds(median(took))}, ` +
      `longest ${seconds(Math.max(...took))} (goal: 10 s)`,
  );
}

/**
 * Compares the throughput of two serving nodes on two cores with one of them on one core, in turns. Load, nodes, Redis
 * and ClickHouse share the cores of this machine. So the measure is not elapsed time but the processor time per
 * request of the serving processes, with all their threads, each pinned to one core. If a request takes n seconds, one
 * node on one core answers 1 / n requests per second, and two nodes on two cores 2 / n. Redis checks the limits: if it
 * has to run on the same two cores and takes r seconds per request, the nodes answer 2 / (n + r).
 */
async function measureNodes(nodes: readonly [Service, Service]): Promise<void> {
  const [first, second] = nodes;
  const paths = await pricePaths(first);
  await reached(second, await indexedBlock(first));
  for (const [core, { pid }] of nodes.entries()) {
    const words = ["--all-tasks", "--cpu-list", "--pid", String(core), String(pid)];
    await promisify(execFile)("taskset", words);
  }
  const rates: Record<"one" | "two" | "twoWithRedis", number[]> = {
    one: [],
    two: [],
    twoWithRedis: [],
  };
  for (let round = 0; round <= loads; round += 1) {
    const one = await loadNodes([first], paths);
    const two = await loadNodes(nodes, paths);
    // The first round is a warm-up.
    if (round === 0) continue;
    rates.one.push(1 / one.nodes);
    rates.two.push(2 / two.nodes);
    rates.twoWithRedis.push(2 / (two.nodes + two.redis));
  }
  const one = median(rates.one);
  const format = (rate: number) => `${Math.round(rate)}/s, ${(rate / one).toFixed(2)} times`;
  console.log(`prices of one node on one core: ${format(one)}`);
  console.log(`of two nodes on two cores: ${format(median(rates.two))} (goal: 1.7)`);
  console.log(`  with Redis on the same two: ${format(median(rates.twoWithRedis))}`);
}

/** Loads the nodes at the same time. Returns the processor seconds per request of the nodes and of Redis. */
async function loadNodes(
  nodes: readonly Service[],
  paths: readonly string[],
): Promise<{ readonly nodes: number; readonly redis: number }> {
  const ofNodes = () => nodes.reduce((sum, { pid }) => sum + readUsage(pid).cpuMs, 0) / 1000;
  const before = { nodes: ofNodes(), redis: await redisCpuSeconds() };
  const done = await Promise.all(
    nodes.map(({ baseUrl: url }) =>
      runClosedLoop({ url, key: adminKey, paths, connections: 32 }, loadMs),
    ),
  );
  const requests = done.reduce((sum, load) => sum + load.requests, 0);
  return {
    nodes: (ofNodes() - before.nodes) / requests,
    redis: ((await redisCpuSeconds()) - before.redis) / requests,
  };
}

/** Request targets for the prices of the tokens of the newest trades. */
async function pricePaths(service: Service): Promise<readonly string[]> {
  const { data } = await service.get<Page>("/v1/trades?limit=200");
  return [...new Set(data.map((row) => `/v1/price/${String(row["token_id"])}`))];
}

async function track(opening: Promise<Service>): Promise<Service> {
  const service = await opening;
  services.add(service);
  return service;
}

async function reached(service: Service, block: number): Promise<void> {
  while ((await indexedBlock(service)) < block) await pause(50);
}

async function indexedBlock(service: Service): Promise<number> {
  const { status, body } = await service.request("/v1/trades?limit=1");
  return status === 200 ? ((body as Page).meta.indexed_block ?? -1) : -1;
}

async function usedBytes(): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redisInfo("memory"))?.[1]);
}

async function redisCpuSeconds(): Promise<number> {
  const text = await redisInfo("cpu");
  const times = text.matchAll(/^used_cpu_(?:user|sys):([0-9.]+)/gm);
  return [...times].reduce((sum, [, time]) => sum + Number(time), 0);
}

async function redisInfo(section: string): Promise<string> {
  const connection = await RedisConnection.open({ url: redis.url, log: silentLog });
  try {
    return await connection.run((client) => client.info(section));
  } finally {
    connection.close();
  }
}
