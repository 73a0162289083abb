/**
 * A cluster on this machine, with a real ClickHouse and a real Redis: how fast an indexer stores what it backfills, how
 * soon a serving node is ready on a first and a second start, how soon a serving node has a new block after the active
 * indexer was killed, and how large Redis becomes. Argument: millions of logs in the store (default 0.3).
 */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { RedisConnection } from "../src/base/redis.ts";
import { systemClock } from "../src/base/time/clock.ts";
import { ClickHouseServer } from "../test/support/clickhouse/clickhouse-server.ts";
import { RedisServer } from "../test/support/redis/redis-server.ts";
import { type Page, Service } from "../test/support/service.ts";
import { silentLog } from "../test/support/silent-log.ts";
import { killServers, startServer } from "./child-server.ts";
import { contractsFromBlock0 } from "./endless-node.ts";
import { measureStart, seconds } from "./measure-start.ts";
import { median } from "./median.ts";

const blocks = Math.round((Number(process.argv[2] ?? 0.3) * 1_000_000) / 112);
const newBlockEveryMs = 1500;
const starts = 3;
const failovers = 5;

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
    // Asking whether a node is ready does not count for a balancer.
    ODDWIRE_TRUSTED_PROXIES: "127.0.0.1",
    ODDWIRE_RATE_LIMIT_ADMIN: "1000000",
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
  await measureReady(optionsOf);
  await measureFailover({ api, active: first, optionsOf });
  console.log(`Redis: ${((await usedBytes()) / 2 ** 20).toFixed(1)} MiB`);
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

/** Each time the standby becomes active, and another one is started before the next kill. */
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
  const connection = await RedisConnection.open({
    url: redis.url,
    clock: systemClock,
    log: silentLog,
  });
  try {
    const info = await connection.run((client) => client.info("memory"));
    return Number(/^used_memory:(\d+)/m.exec(info)?.[1]);
  } finally {
    connection.close();
  }
}
