/**
 * Pages of cold tokens from the embedded engine and from a ClickHouse server on the same machine. Both have the same
 * trades, and each page is requested from both, in turns. Arguments: millions of trades (default 2), and pages of each
 * kind (default 200).
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { generateKey } from "../src/access/key-format.ts";
import type { TokenId } from "../src/base/ids.ts";
import { toIdentity } from "../src/storage/directory/identity.ts";
import { openDatabase } from "../src/storage/server/open-database.ts";
import { ClickHouseServer } from "../test/support/clickhouse/clickhouse-server.ts";
import { writeContractsFile } from "../test/support/contracts-file.ts";
import { knownContracts } from "../test/support/recorded-chain.ts";
import { SeededRandom } from "../test/support/seeded-random.ts";
import { killServers, startServer } from "./child-server.ts";
import { type ColdStore, fillColdStore, getTokens, toBlocks } from "./cold-store.ts";
import { getLoad, runOneByOne } from "./http-load.ts";

const trades = Number(process.argv[2] ?? 2) * 1_000_000;
const pagesEach = Number(process.argv[3] ?? 200);
const blocks = toBlocks(trades);
/** Blocks always cover a year, whatever the size of the store. */
const secondsPerBlock = Math.round((365 * 86_400) / blocks);
const newBlockEveryMs = 1500;
const nameWidth = 36;
const database = "cold";
const key = generateKey("admin");
const random = new SeededRandom(Math.floor(performance.timeOrigin));

type Urls = { readonly embedded: string; readonly server: string };

const { model = "unknown" } = cpus()[0] ?? {};
console.log(`${model}, ${availableParallelism()} cores, node ${process.version}`);
const dir = await mkdtemp(join(tmpdir(), "oddwire-bench-"));
const [clickhouse] = await ClickHouseServer.openAll(1);
try {
  if (clickhouse === undefined) throw new Error("no server was started");
  const { url } = clickhouse;
  await measure(await startServices(url));
  console.log(`load of the machine ${loadavg()[0]?.toFixed(1)}`);
} finally {
  killServers();
  await clickhouse?.close();
  await rm(dir, { recursive: true, force: true });
}

async function startServices(clickhouseUrl: string): Promise<Urls> {
  const place = { url: clickhouseUrl, user: "default", password: "", database, cluster: null };
  const identity = toIdentity(137, knownContracts());
  const ofServer = (folder: string) => openDatabase({ ...place, identity, spoolDir: folder });
  await fill("embedded", {});
  await fill("server", { openEngine: ofServer });
  const words = [blocks, secondsPerBlock, newBlockEveryMs].map(String);
  const node = await startServer("endless-node.ts", words);
  const settings = { ODDWIRE_CLICKHOUSE_URL: clickhouseUrl, ODDWIRE_CLICKHOUSE_DATABASE: database };
  return {
    embedded: await startReady(node.url, "embedded", {}),
    server: await startReady(node.url, "server", settings),
  };
}

async function fill(name: string, where: Pick<ColdStore, "openEngine">): Promise<void> {
  const dataDir = join(dir, name);
  await mkdir(dataDir, { recursive: true });
  await fillColdStore({ dataDir, trades, secondsPerBlock, ...where });
}

async function startReady(
  rpcUrl: string,
  name: string,
  settings: Readonly<Record<string, string>>,
): Promise<string> {
  const { url } = await startServer("../src/cli.ts", ["serve"], {
    PATH: process.env["PATH"],
    ODDWIRE_RPC_URLS: rpcUrl,
    ODDWIRE_START_BLOCK: "0",
    ODDWIRE_CONTRACTS_FILE: await writeContractsFile(dir),
    ODDWIRE_DATA_DIR: join(dir, name),
    ODDWIRE_PORT: "0",
    ODDWIRE_ADMIN_KEY: key,
    ODDWIRE_RATE_LIMIT_ADMIN: "10000000",
    ODDWIRE_LOG_LEVEL: "error",
    // The audit is off: the node does not have the blocks that the store was filled with.
    ODDWIRE_AUDIT_CALLS_PER_MINUTE: "0",
    ...settings,
  });
  while (!(await fetch(`${url}/v1/ready`)).ok) await pause(300);
  return url;
}

async function measure(urls: Urls): Promise<void> {
  const { ids, longLived } = getTokens(trades);
  const [largest] = ids as readonly [TokenId, ...TokenId[]];
  const some = (tokens: readonly TokenId[]) =>
    Array.from({ length: pagesEach }, () => random.pick(tokens));
  const newest = (id: TokenId) => `/v1/trades/market/${BigInt(id)}?limit=100`;
  const upTo = (path: string) => `${path}&to_block=${random.integer(0, blocks - 1)}`;
  const shortLived = ids.slice(1 + longLived);
  const traded = ids.slice(1, 1 + longLived);
  const kinds: Record<string, () => readonly string[]> = {
    "latest 100, traded for weeks": () => some(shortLived).map(newest),
    "any 100, traded all the time": () => some(traded).map(newest).map(upTo),
    "any 100 of the largest": () => some([largest]).map(newest).map(upTo),
  };
  // A warm-up with other tokens: the tokens must be cold, but the code runs for weeks in production.
  for (const makePaths of Object.values(kinds)) await askBoth(urls, makePaths());
  for (const [name, makePaths] of Object.entries(kinds)) {
    const { embedded, server } = await askBoth(urls, makePaths());
    const [one, other] = [getLoad(embedded), getLoad(server)];
    const ratio = (other.p50Ms / one.p50Ms).toFixed(2);
    console.log(
      `${name.padEnd(nameWidth)} embedded p50 ${ms(one.p50Ms)}, p99 ${ms(one.p99Ms)}; ` +
        `server p50 ${ms(other.p50Ms)}, p99 ${ms(other.p99Ms)}; ratio of p50 ${ratio} (goal: 1.5)`,
    );
  }
}

/** Milliseconds of each page. Each page swaps which engine is asked first. */
async function askBoth(
  urls: Urls,
  paths: readonly string[],
): Promise<Record<keyof Urls, number[]>> {
  const took: Record<keyof Urls, number[]> = { embedded: [], server: [] };
  for (const [index, path] of paths.entries()) {
    const order = ["embedded", "server"] as const;
    for (const name of index % 2 === 0 ? order : order.toReversed()) {
      const target = { url: urls[name], key, paths: [path], connections: 1 };
      took[name].push((await runOneByOne(target)).p50Ms);
    }
  }
  return took;
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}
