/**
 * Wallets, holders and open interest, cold and one by one, with keys, limits and headers on and new blocks arriving.
 * Baseline in the same run: one trade of one block. Lists are read to their end and counted.
 *
 * Arguments: millions of ledger rows (default 10; a tenth of them is of one wallet), requests of each kind (default
 * 200), and a folder where the store is built once and kept (default: a folder that is deleted at the end). The goals
 * are those of 10 million rows: a usual wallet and pages in 12 ms at p50 and 40 ms at p99, 100,000 rows in 250 ms, a
 * million in 2.5 s, holders in 40 and 300 ms, open interest in 2 and 30 ms, 80 bytes a row.
 */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { generateKey } from "../src/access/key-format.ts";
import { SeededRandom } from "../test/support/seeded-random.ts";
import { type ChildServer, killServers, startServer, stopService } from "./child-server.ts";
import {
  fillColdStore,
  fillsPerTrade,
  getTokens,
  largeWallets,
  serveColdStore,
  toBlocks,
} from "./cold-store.ts";
import { type Load, runConstantRate, runOneByOne, type Target } from "./http-load.ts";
import { fillLedger, holders, type StoredLedger } from "./ledger-store.ts";
import { median } from "./median.ts";

const millions = Number(process.argv[2] ?? 10);
const requestsEach = Number(process.argv[3] ?? 200);
const folder = process.argv[4];
const rows = millions * 1_000_000;
const trades = Math.ceil(rows / fillsPerTrade);
const blocks = toBlocks(trades);
const secondsPerBlock = Math.round((365 * 86_400) / blocks);
const newBlockEveryMs = 1500;
const nameWidth = 44;
const key = generateKey("admin");
const random = new SeededRandom(Math.floor(performance.timeOrigin));

const { model = "unknown" } = cpus()[0] ?? {};
console.log(
  `${model}, ${availableParallelism()} cores, node ${process.version}, load ${getLoad()}`,
);
const dir = folder ?? (await mkdtemp(join(tmpdir(), "oddwire-bench-")));
try {
  await mkdir(dir, { recursive: true });
  const dataDir = join(dir, "data");
  if (!existsSync(dataDir)) await fillColdStore({ dataDir, trades, secondsPerBlock });
  const stored = await fillLedger({ dataDir, trades, secondsPerBlock });
  console.log(
    `${stored.rows} rows of ledgers, ${stored.bytesPerRow.toFixed(1)} bytes each with its balance`,
  );
  const node = await startServer(
    "endless-node.ts",
    [blocks, secondsPerBlock, newBlockEveryMs].map(String),
  );
  const service = await serveColdStore(node.url, { dataDir, dir, key });
  await measure(service, stored);
  await stopService(service);
} finally {
  killServers();
  if (folder === undefined) await rm(dir, { recursive: true, force: true });
}

async function measure(service: ChildServer, stored: StoredLedger): Promise<void> {
  const { url } = service;
  const { usual } = stored;
  const { tenth, hundredth } = largeWallets;
  const { ids } = getTokens(trades);
  const some = (toPath: (wallet: string) => string) =>
    Array.from({ length: requestsEach }, () => toPath(random.pick(usual)));
  const anyBlock = () => random.integer(0, blocks - 1);
  const activity = (wallet: string) => `/v1/wallets/${wallet}/activity?limit=100`;
  const markets = Array.from({ length: requestsEach }, () =>
    String(BigInt(random.pick(ids.slice(1)))),
  );
  const largest = `/v1/markets/${BigInt(stored.largestToken)}`;
  const same = `/v1/wallets/${usual[0]}/positions`;
  const lists: Readonly<Record<string, readonly string[]>> = {
    "baseline: one trade of one block": Array.from({ length: requestsEach }, () => {
      const block = anyBlock();
      return `/v1/trades?limit=1&from_block=${block}&to_block=${block}`;
    }),
    "positions, 500 to 2,000 rows": some((wallet) => `/v1/wallets/${wallet}/positions`),
    "positions, the same again": Array.from({ length: requestsEach }, () => same),
    "wallet, 500 to 2,000 rows": some((wallet) => `/v1/wallets/${wallet}`),
    "pnl by day, 500 to 2,000 rows": some((wallet) => `/v1/wallets/${wallet}/pnl`),
    "activity, first page": some(activity),
    "activity, deep in 10 % of all rows": Array.from(
      { length: requestsEach },
      () => `${activity(tenth)}&to_block=${anyBlock()}`,
    ),
    "activity of one token in 10 % of all rows": markets
      .slice(0, 20)
      .map((id) => `${activity(tenth)}&token_id=${id}`),
    "trades of a wallet": some((wallet) => `/v1/trades?wallet=${wallet}&limit=100`),
    "holders, usual token": markets.map((id) => `/v1/markets/${id}/holders`),
    "open interest of a market now": markets.map((id) => `/v1/markets/${id}`),
    "open interest of a market, a year of days": markets.map(
      (id) => `/v1/markets/${id}/open-interest?resolution=1d`,
    ),
  };
  const large: Readonly<Record<string, string>> = {
    "activity, first page of 10 % of all rows": activity(tenth),
    "positions, 1 % of all rows": `/v1/wallets/${hundredth}/positions`,
    "positions, 10 % of all rows": `/v1/wallets/${tenth}/positions`,
    "wallet, 10 % of all rows": `/v1/wallets/${tenth}`,
    [`holders, ${holders}`]: `${largest}/holders`,
    "open interest of the largest, hours": `${largest}/open-interest?resolution=1h`,
    "open interest of all, a year of days": "/v1/open-interest?resolution=1d",
  };
  const target = { url, key, connections: 1 };
  console.log(`memory ${await readMemory(service)}`);
  for (const paths of Object.values(lists))
    await runOneByOne({ ...target, paths: paths.slice(0, 20) });
  for (const [name, paths] of Object.entries(lists)) {
    console.log(`${name.padEnd(nameWidth)} ${reported(await runOneByOne({ ...target, paths }))}`);
  }
  for (const [name, path] of Object.entries(large)) {
    console.log(`${name.padEnd(nameWidth)} ${reported(await runAfterBlocks(target, path))}`);
  }
  const [others] = await Promise.all([
    runConstantRate({ ...target, paths: ["/v1/markets?limit=1"] }, 100, 5 * newBlockEveryMs),
    runAfterBlocks(target, `/v1/wallets/${tenth}/positions`),
  ]);
  console.log(
    `${"markets beside positions of 10 % of all rows".padEnd(nameWidth)} ${reported(others)}`,
  );
  const ends = {
    "holders of the largest": `${largest}/holders?limit=1000`,
    "positions of 10 % of all rows": `/v1/wallets/${tenth}/positions?status=all&limit=500`,
    "activity of 1 % of all rows": `/v1/wallets/${hundredth}/activity?limit=1000`,
  };
  for (const [name, path] of Object.entries(ends)) {
    const startedAt = performance.now();
    const { count, pages } = await readToEnd(url, path);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    console.log(
      `${`${name}, to the end`.padEnd(nameWidth)} ${count} rows in ${pages} pages, ${seconds} s`,
    );
  }
  console.log(`memory ${await readMemory(service)}, load ${getLoad()}`);
}

/** Requests a path once after each of some new blocks, which end what is cached of it. The last figure is the slowest. */
async function runAfterBlocks(target: Omit<Target, "paths">, path: string): Promise<Load> {
  const latencies: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    await pause(1.2 * newBlockEveryMs);
    latencies.push((await runOneByOne({ ...target, paths: [path] })).p50Ms);
  }
  const [p50Ms, p99Ms] = [median(latencies), Math.max(...latencies)];
  return { requests: latencies.length, p50Ms, p99Ms };
}

/** Reads every page of a list. Throws when a row comes twice. */
async function readToEnd(url: string, path: string): Promise<{ count: number; pages: number }> {
  const rowsRead = new Set<string>();
  let [count, pages] = [0, 0];
  for (let cursor: string | null = ""; cursor !== null; pages += 1) {
    const response = await fetch(`${url}${path}${cursor && `&cursor=${cursor}`}`, {
      headers: { "x-api-key": key },
    });
    const page = (await response.json()) as {
      data: readonly Readonly<Record<string, unknown>>[];
      pagination: { next_cursor: string | null };
    };
    for (const { id, address, token_id: token } of page.data)
      rowsRead.add([id, address, token].join());
    count += page.data.length;
    cursor = page.pagination.next_cursor;
  }
  if (rowsRead.size !== count) throw new Error(`${path} repeats rows`);
  return { count, pages };
}

/** The memory of the service now and at its peak. */
async function readMemory({ child }: ChildServer): Promise<string> {
  const status = await readFile(`/proc/${child.pid}/status`, "utf8");
  const read = (name: string) =>
    Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024);
  return `${read("VmRSS")} MB, peak ${read("VmHWM")} MB`;
}

function reported({ p50Ms, p99Ms, requests }: Load): string {
  return `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms (${requests})`;
}

function getLoad(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}
