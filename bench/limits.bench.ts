/**
 * `/v1/price` with limits that nodes share in a real Redis. The baseline is limits of one process, in turns in the same
 * run. A second is a second of processor time of the serving thread. Argument: seconds for each round (default 2).
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { generateKey } from "../src/access/key-format.ts";
import { ClickHouseServer } from "../test/support/clickhouse/clickhouse-server.ts";
import { RedisServer } from "../test/support/redis/redis-server.ts";
import { type ChildServer, killServers, startServer, startService } from "./child-server.ts";
import { runClosedLoop } from "./http-load.ts";
import { median } from "./median.ts";

const seconds = Number(process.argv[2] ?? 2);
const blocks = 300;
const rounds = 5;
const ticksPerSecond = 100;
const key = generateKey("admin");

const { model = "unknown" } = cpus()[0] ?? {};
console.log(`${model}, ${availableParallelism()} cores, node ${process.version}`);
const dir = await mkdtemp(join(tmpdir(), "oddwire-bench-"));
const [clickhouse] = await ClickHouseServer.openAll(1);
const redis = await RedisServer.start();
try {
  const node = await startServer("endless-node.ts", [String(blocks), "60", "1500"]);
  const common = {
    ODDWIRE_RPC_URLS: node.url,
    ODDWIRE_ADMIN_KEY: key,
    ODDWIRE_RATE_LIMIT_ADMIN: "10000000",
    ODDWIRE_HMAC_PEPPER: "a pepper that is long enough for a benchmark",
  };
  const services = {
    "one process": await startService(await mkdtemp(join(dir, "a-")), common),
    cluster: await startService(await mkdtemp(join(dir, "b-")), {
      ...common,
      ODDWIRE_CLICKHOUSE_URL: clickhouse?.url ?? "",
      ODDWIRE_REDIS_URL: redis.url,
    }),
  };
  const rates: Record<string, number[]> = {};
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, service] of Object.entries(services)) {
      const rate = await measure(service);
      // The first round is a warm-up.
      if (round > 0) (rates[name] ??= []).push(rate);
    }
  }
  const [alone = 0, shared = 0] = Object.values(rates).map(median);
  const ratio = (shared / alone).toFixed(2);
  console.log(
    `price: ${format(alone)}/s a core with limits of one process, ${format(shared)}/s shared, ratio ${ratio}`,
  );
} finally {
  killServers();
  await redis.close();
  await clickhouse?.close();
  await rm(dir, { recursive: true, force: true });
}

/** Requests per second of processor time. */
async function measure({ child, url }: ChildServer): Promise<number> {
  const paths = await getPaths(url);
  const before = await getCpuSeconds(child.pid);
  const { requests } = await runClosedLoop({ url, key, paths, connections: 32 }, seconds * 1000);
  return requests / ((await getCpuSeconds(child.pid)) - before);
}

/** Request targets for the prices of the tokens of the newest trades. Waits for the first trades. */
async function getPaths(url: string): Promise<readonly string[]> {
  for (;;) {
    const response = await fetch(`${url}/v1/trades?limit=200`, { headers: { "x-api-key": key } });
    const body = (await response.json()) as { data?: readonly { token_id: string }[] };
    const { data = [] } = body;
    const tokens = new Set(data.map(({ token_id }) => token_id));
    if (tokens.size > 0) return [...tokens].map((id) => `/v1/price/${id}`);
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

/** Processor seconds of the main thread. */
async function getCpuSeconds(pid: number | undefined): Promise<number> {
  const stat = await readFile(`/proc/${pid}/task/${pid}/stat`, "utf8");
  const fields = stat.split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

function format(value: number): string {
  return Math.round(value).toLocaleString("en");
}
