/**
 * A cluster on this machine, with a real ClickHouse and a real Redis. Measures how fast an indexer backfills, how soon
 * a serving node is ready on a first and a second start, how soon a serving node has a new block after the active
 * indexer was killed, and the memory of Redis. Arguments: millions of logs in the store (default 0.3), and `nodes` to
 * measure the throughput of two serving nodes compared with one instead.
 */
import assert from "node:assert/strict";
import { type ChildProcess, execFile, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { RedisConnection } from "../src/base/redis/redis-connection.ts";
import { ClickHouseServer } from "../test/support/clickhouse/clickhouse-server.ts";
import { RedisServer } from "../test/support/redis/redis-server.ts";
import { adminKey, type Page, Service } from "../test/support/service.ts";
import { silentLog } from "../test/support/silent-log.ts";
import { killServers, startServer } from "./child-server.ts";
import { contractsFromBlock0 } from "./endless-node.ts";
import { measureStart, seconds } from "./measure-start.ts";
import { median } from "./median.ts";

const blocks = Math.round((Number(process.argv[2] ?? 0.3) * 1_000_000) / 112);
const isOfNodes = process.argv[3] === "nodes";
/** No blocks arrive while nodes are compared: they cost ClickHouse and the indexer the same with one node and with two. */
const newBlockEveryMs = isOfNodes ? 3_600_000 : 1500;
const starts = 3;
const failovers = 5;
const loads = 7;
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
  const toOptions = (role: "index" | "api", name: string) => {
    return { role, rpcUrls: [node.url], dataDir: join(dir, name), settings };
  };
  await measure(toOptions, [clickhouse.pid, redis.pid, node.child.pid]);
} finally {
  await Promise.all([...services].map((service) => service.kill9()));
  killServers();
  await Promise.all([redis.close(), clickhouse?.close()]);
  await rm(dir, { recursive: true, force: true });
}

type GetOptions = (role: "index" | "api", name: string) => Parameters<typeof Service.open>[0];

async function measure(
  toOptions: GetOptions,
  servers: readonly (number | undefined)[],
): Promise<void> {
  const startedAtMs = performance.now();
  const first = await track(Service.open(toOptions("index", "index-a")));
  const api = await track(Service.open(toOptions("api", "api-a")));
  await reached(api, blocks - 1);
  const tookMs = performance.now() - startedAtMs;
  const logs = blocks * 112;
  console.log(`backfill of ${logs} logs: ${Math.round((logs / tookMs) * 1000)}/s, starts included`);
  if (isOfNodes) {
    const second = await track(Service.open(toOptions("api", "api-b")));
    await measureNodes([api, second], [...servers, first.pid]);
  } else {
    await measureReady(toOptions);
    await measureFailover({ api, active: first, toOptions });
    console.log(`Redis: ${((await usedBytes()) / 2 ** 20).toFixed(1)} MiB`);
  }
  console.log(`load of the machine ${loadavg()[0]?.toFixed(1)}`);
}

async function measureReady(toOptions: GetOptions): Promise<void> {
  const took: Record<string, number[]> = { "on a first start": [], "on a second start": [] };
  for (let round = 0; round < starts; round += 1) {
    for (const times of Object.values(took)) {
      const { service, readyMs } = await measureStart(toOptions("api", `api-started-${round}`));
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
  readonly toOptions: GetOptions;
}): Promise<void> {
  let { active } = parts;
  const took: number[] = [];
  for (let round = 0; round < failovers; round += 1) {
    const standby = await track(Service.open(parts.toOptions("index", `index-${round}`)));
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
 * Compares the throughput of this machine with everything on one core, one serving node included, and with a node on
 * each of two cores, in turns. Each node shares its core with its load. Redis, which checks the limits, ClickHouse and
 * the indexer share the same cores.
 */
async function measureNodes(
  nodes: readonly [Service, Service],
  others: readonly (number | undefined)[],
): Promise<void> {
  while ((await clickhouse?.ask("SELECT count() FROM system.merges")) !== "0") await pause(200);
  const paths = await pricePaths(nodes[0]);
  await reached(nodes[1], await indexedBlock(nodes[0]));
  const path = fileURLToPath(new URL("node-load.ts", import.meta.url));
  const placed = nodes.map((node, core) => ({ node, core, loader: fork(path) }));
  const measureOn = async (used: typeof placed): Promise<number> => {
    const cores = used.map(({ core }) => core);
    await Promise.all(others.map((pid) => pin(pid, cores)));
    const rates = await Promise.all(used.map(({ node, loader }) => loadNode(node, loader, paths)));
    return rates.reduce((sum, rate) => sum + rate, 0);
  };
  try {
    for (const { node, core, loader } of placed) {
      await pin(node.pid, [core]);
      await pin(loader.pid, [core]);
    }
    const rates: { one: number; two: number }[] = [];
    for (let round = 0; round <= loads; round += 1) {
      rates.push({ one: await measureOn(placed.slice(0, 1)), two: await measureOn(placed) });
    }
    // The first round is a warm-up.
    const counted = rates.slice(1);
    const [one, two] = [
      median(counted.map((rate) => rate.one)),
      median(counted.map((rate) => rate.two)),
    ];
    console.log(`prices of one node, all on one core: ${Math.round(one)}/s`);
    console.log(
      `of two nodes on two cores: ${Math.round(two)}/s, ${(two / one).toFixed(2)} times (goal: 1.7)`,
    );
  } finally {
    for (const { loader } of placed) loader.kill();
  }
}

/** Loads a node. Returns its responses per second. */
async function loadNode(
  { baseUrl: url }: Service,
  loader: ChildProcess,
  paths: readonly string[],
): Promise<number> {
  loader.send({ target: { url, key: adminKey, paths, connections: 32 }, forMs: loadMs });
  const [{ requests }] = (await once(loader, "message")) as [{ requests: number }];
  return (requests * 1000) / loadMs;
}

/** Confines a process, with all its threads, to some cores. */
async function pin(pid: number | undefined, cores: readonly number[]): Promise<void> {
  assert(pid !== undefined, "it was started");
  const words = ["--all-tasks", "--cpu-list", "--pid", cores.join(), String(pid)];
  await promisify(execFile)("taskset", words);
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
  const connection = await RedisConnection.open({ url: redis.url, log: silentLog });
  try {
    const text = await connection.run((client) => client.info("memory"));
    return Number(/^used_memory:(\d+)/m.exec(text)?.[1]);
  } finally {
    connection.close();
  }
}
