/**
 * Cold tokens in a store of any size: price, newest trades, older pages and candles, at a constant rate and one by one,
 * with keys, limits and headers on and new blocks arriving. Baselines in the same run: one trade of one block, and a
 * page read from the disk without any service.
 *
 * Arguments: millions of trades (default 2), seconds for each kind of request (default 10), and a folder where the
 * store is built once and kept (default: a folder that is deleted at the end). The goals are for 100 million trades,
 * which take 27 GB and a quarter of an hour to build: newest 100 trades in 6 ms at p50 and 20 ms at p99, candles in
 * 10 and 30 ms, prices in 5 ms at p99.
 */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { generateKey } from "../src/access/key-format.ts";
import type { TokenId } from "../src/base/ids.ts";
import { IndexedFacts } from "../src/views/indexed-facts.ts";
import { SeededRandom } from "../test/support/seeded-random.ts";
import { killServers, startServer, stopService } from "./child-server.ts";
import { fillColdStore, getTokens, serveColdStore, toBlocks } from "./cold-store.ts";
import { measureDiskReads } from "./disk-reads.ts";
import { getBlockTime } from "./endless-node.ts";
import { type Load, runConstantRate, runOneByOne } from "./http-load.ts";

const millions = Number(process.argv[2] ?? 2);
const secondsEach = Number(process.argv[3] ?? 10);
const folder = process.argv[4];
const trades = millions * 1_000_000;
const blocks = toBlocks(trades);
/** Blocks always cover a year, whatever the size of the store. */
const secondsPerBlock = Math.round((365 * 86_400) / blocks);
const newBlockEveryMs = 1500;
const ratePerSecond = 20;
const requestsEach = ratePerSecond * secondsEach;
const connections = 8;
const nameWidth = 40;
const key = generateKey("admin");
const random = new SeededRandom(Math.floor(performance.timeOrigin));

const { model = "unknown" } = cpus()[0] ?? {};
console.log(`${model}, ${availableParallelism()} cores, node ${process.version}`);

const dir = folder ?? (await mkdtemp(join(tmpdir(), "oddwire-bench-")));
try {
  await mkdir(dir, { recursive: true });
  const dataDir = join(dir, "data");
  if (!existsSync(dataDir)) await fillColdStore({ dataDir, trades, secondsPerBlock });
  const firstBlocks = await countBlocks(dataDir);
  const node = await startServer(
    "endless-node.ts",
    [firstBlocks, secondsPerBlock, newBlockEveryMs].map(String),
  );
  const service = await serveColdStore(node.url, { dataDir, dir, key });
  console.log(`${trades} trades in ${firstBlocks} blocks, one more every ${newBlockEveryMs} ms`);
  // Measured before any other request, and not while files are being written.
  const ofDisk = await measureDiskReads(dataDir, requestsEach, random);
  console.log(
    `${"a page of 4 KB of any of the files".padEnd(nameWidth)} ${reported(ofDisk)} one by one`,
  );
  await measure(service.url);
  await stopService(service);
} finally {
  killServers();
  if (folder === undefined) await rm(dir, { recursive: true, force: true });
}

async function measure(url: string): Promise<void> {
  const { ids, longLived } = getTokens(trades);
  const [largest] = ids as readonly [TokenId, ...TokenId[]];
  const some = (kind: readonly TokenId[]) =>
    Array.from({ length: requestsEach }, () => random.pick(kind));
  const shortLived = ids.slice(1 + longLived);
  const traded = ids.slice(1, 1 + longLived);
  const anyBlock = (): number => random.integer(0, blocks - 1);
  const tradeOfBlock = (block = anyBlock()): string =>
    `/v1/trades?limit=1&from_block=${block}&to_block=${block}`;
  const both = (): readonly TokenId[] => [
    ...some(shortLived).slice(0, requestsEach / 2),
    ...some(traded).slice(0, requestsEach / 2),
  ];
  const newest = (id: TokenId): string => `/v1/trades/market/${BigInt(id)}?limit=100`;
  const candles = (id: TokenId, resolution: string): string =>
    `/v1/candles/${BigInt(id)}?limit=500&resolution=${resolution}`;
  const lists: Record<string, () => readonly string[] | Promise<readonly string[]>> = {
    "one trade of one block": () => Array.from({ length: requestsEach }, () => tradeOfBlock()),
    "price, traded for weeks": () => some(shortLived).map((id) => `/v1/price/${BigInt(id)}`),
    "latest 100, traded for weeks": () => some(shortLived).map(newest),
    "latest 100, traded all the time": () => some(traded).map(newest),
    "pages behind the first": () => nextPages(url, both().map(newest)),
    "pages of the largest, near and deep": () =>
      Array.from({ length: requestsEach }, () => `${newest(largest)}&to_block=${anyBlock()}`),
    "candles of hours, traded for weeks": () => some(shortLived).map((id) => candles(id, "1h")),
    "candles of hours, traded all the time": () => some(traded).map((id) => candles(id, "1h")),
    "candles of days": () => both().map((id) => candles(id, "1d")),
    "candles of minutes": () => both().map((id) => candles(id, "1m")),
    "candles of the largest": () =>
      Array.from(
        { length: requestsEach },
        (_, index) =>
          `${candles(largest, index % 2 === 0 ? "1h" : "1m")}&end=${getBlockTime(anyBlock(), secondsPerBlock)}`,
      ),
  };
  const target = { url, key, connections };
  // A warm-up with other tokens: the tokens must be cold, but the code runs for weeks in production.
  for (const makePaths of Object.values(lists)) {
    await runOneByOne({ ...target, paths: await makePaths() });
  }
  for (const [name, makePaths] of Object.entries(lists)) {
    const rate = await runConstantRate(
      { ...target, paths: await makePaths() },
      ratePerSecond,
      secondsEach * 1000,
    );
    // New tokens, each requested once.
    const each = await runOneByOne({ ...target, paths: await makePaths() });
    console.log(
      `${name.padEnd(nameWidth)} ${reported(rate)} at ${ratePerSecond}/s; ${reported(each)} one by one`,
    );
  }
}

function reported({ p50Ms, p99Ms, requests }: Load): string {
  return `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms (${requests})`;
}

/** Request targets of the next page after each of some pages. */
async function nextPages(url: string, paths: readonly string[]): Promise<readonly string[]> {
  const pages: string[] = [];
  for (const path of paths) pages.push((await nextPage(url, path)) ?? path);
  return pages;
}

async function nextPage(url: string, path: string): Promise<string | null> {
  const response = await fetch(`${url}${path}`, { headers: { "x-api-key": key } });
  if (!response.ok)
    throw new Error(`${path} was answered ${response.status}: ${await response.text()}`);
  const { pagination } = (await response.json()) as { pagination: { next_cursor: string | null } };
  const { next_cursor: cursor } = pagination;
  return cursor === null ? null : `${path}&cursor=${encodeURIComponent(cursor)}`;
}

/** Counts the stored blocks, including those that arrived in an earlier run. */
async function countBlocks(dataDir: string): Promise<number> {
  const store = await IndexedFacts.open(dataDir);
  await store.close();
  return (store.newestBlock ?? -1) + 1;
}
