/**
 * HTTP: requests per second of one core, with keys, limits and headers on and new blocks arriving. The baseline in the
 * same run is bare `node:http` with the same headers and body lengths. A second is a second of processor time of the
 * serving thread, so that the load, the chain thread and the engine do not count. Then latency at a constant rate, and
 * cold tokens. Arguments: millions of logs in the store (default 0.3), seconds for each figure (default 5), a part of
 * the names of the measurements to run, and processes (default 5). Processes with the same code differ, so each
 * figure is measured in several, and the last lines have the least, the middle and the greatest of them.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { generateKey } from "../src/access/key-format.ts";
import { packedFromBytes } from "../src/api/route/gzip.ts";
import { ScriptedVenue } from "../test/support/scripted-venue.ts";
import type { VenueBook } from "../test/support/venue-book.ts";
import { type ChildServer, killServers, startServer, startService } from "./child-server.ts";
import { type Load, runClosedLoop, runConstantRate, type Target } from "./http-load.ts";
import { median } from "./median.ts";

const millions = Number(process.argv[2] ?? 0.3);
const seconds = Number(process.argv[3] ?? 5);
const only = process.argv[4] ?? "";
const processes = Number(process.argv[5] ?? 5);
const blocks = Math.round((millions * 1_000_000) / 112);
/** Far apart, so that few blocks fill charts of many candles. */
const secondsPerBlock = 60;
const newBlockEveryMs = 1500;
const requestedTokens = 200;
const connections = 32;
const rounds = 5;
const ticksPerSecond = 100;

const { model = "unknown" } = cpus()[0] ?? {};
console.log(`${model}, ${availableParallelism()} cores, node ${process.version}`);
console.log(`${blocks} blocks in the store, one more every ${newBlockEveryMs} ms`);

const dir = await mkdtemp(join(tmpdir(), "oddwire-bench-"));
const key = generateKey("admin");
const venue = await ScriptedVenue.open({ hasEveryBook: true });
/** Of each measurement the ratios, and the requests per second of a core, by process. */
const results = new Map<string, { readonly ratio: number; readonly cpuRate: number }[]>();
try {
  const node = await startServer(
    "endless-node.ts",
    [blocks, secondsPerBlock, newBlockEveryMs].map(String),
  );
  const bare = await startServer("bare-server.ts", []);
  for (let run = 0; run < processes; run += 1) {
    const service = await openService(node.url);
    if (run === 0) await measureOnce(service);
    await measureAll(service, bare);
    service.child.kill("SIGKILL");
    await once(service.child, "exit");
  }
  for (const [name, runs] of results) console.log(`${name}: ${summarize(runs)}`);
} finally {
  killServers();
  await venue.close();
  await rm(dir, { recursive: true, force: true });
}

/** Measures what does not depend on the process. */
async function measureOnce(service: ChildServer): Promise<void> {
  const resting = (100 * (await restingCpu(service))).toFixed(1);
  console.log(`no one asks: ${resting} % of a core, for blocks`);
  if (!"cold".includes(only)) return;
  await measureCold(service, (await getTokens(service.url)).slice(requestedTokens));
}

async function measureAll(service: ChildServer, bare: ChildServer): Promise<void> {
  const tokens = await getTokens(service.url);
  const requested = tokens.slice(0, requestedTokens);
  for (const id of requested) fillBook(venue.book(id));
  const routes: Record<string, readonly string[]> = {
    "order book": requested.map((id) => `/v1/orderbook/${id}`),
    price: requested.map((id) => `/v1/price/${id}`),
    "price of any token": tokens.map((id) => `/v1/price/${id}`),
    "newest 100 trades": ["/v1/trades?limit=100"],
    "newest 100 of a token": requested.map((id) => `/v1/trades/market/${id}?limit=100`),
    "500 candles": requested.map((id) => `/v1/candles/${id}?resolution=1m&fill=previous`),
  };
  for (const [name, paths] of Object.entries(routes)) {
    if (name.includes(only)) await compare(name, { service, bare, paths });
    const packed = `${name}, gzip`;
    const isLong = (await getLength(service.url, paths[0] ?? "")) >= packedFromBytes;
    if (isLong && packed.includes(only))
      await compare(packed, { service, bare, paths, accepted: "gzip" });
  }
}

function summarize(runs: readonly { readonly ratio: number; readonly cpuRate: number }[]): string {
  const spread = (values: readonly number[], show: (value: number) => string) =>
    [Math.min(...values), median(values), Math.max(...values)].map(show).join(" / ");
  const ratios = spread(
    runs.map(({ ratio }) => ratio),
    (value) => value.toFixed(2),
  );
  const rates = spread(
    runs.map(({ cpuRate }) => cpuRate),
    format,
  );
  return `ratio ${ratios}, ${rates}/s a core; least / median / greatest of ${runs.length} processes`;
}

type Compared = Pick<Target, "paths" | "accepted"> & {
  readonly service: ChildServer;
  readonly bare: ChildServer;
};

/** Measures both servers in turns, so that a slow phase of the machine affects both. Uses medians of the rounds. */
async function compare(name: string, { service, bare, ...requested }: Compared): Promise<void> {
  const { paths, accepted } = requested;
  const lengths: number[] = [];
  // One after the other: at most two responses are compressed at the same time, others are sent uncompressed.
  for (const path of paths) lengths.push(await getLength(service.url, path, accepted));
  const target = { url: service.url, key, connections, ...requested };
  const bytes = Math.round(lengths.reduce((sum, length) => sum + length, 0) / lengths.length);
  const bareTarget = { ...target, url: bare.url, paths: getBodies(lengths) };
  for (const each of [target, bareTarget]) await runClosedLoop(each, 1000);
  const measured: { ours: Measured; least: Measured }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const ours = await measure(service, target);
    measured.push({ ours, least: await measure(bare, bareTarget) });
  }
  const cpuRate = median(measured.map(({ ours }) => ours.cpuRate));
  const wallRate = median(measured.map(({ ours }) => ours.wallRate));
  const ratio = median(measured.map(({ ours, least }) => ours.cpuRate / least.cpuRate));
  results.set(name, [...(results.get(name) ?? []), { ratio, cpuRate }]);
  // A quarter: the load needs more than half of two cores, and its own delays would count as the service's.
  const rate = Math.round(Math.min(wallRate, cpuRate) / 4);
  const steady = await runConstantRate(target, rate, seconds * 1000);
  const steadyBare = await runConstantRate(bareTarget, rate, seconds * 1000);
  console.log(
    `${name}, ${bytes} bytes: ${format(cpuRate)}/s a core, ` +
      `bare ${format(median(measured.map(({ least }) => least.cpuRate)))}/s, ` +
      `ratio ${ratio.toFixed(2)}; ` +
      `wall ${format(wallRate)}/s, p50 ${median(measured.map(({ ours }) => ours.load.p50Ms)).toFixed(2)} ms, ` +
      `p99 ${median(measured.map(({ ours }) => ours.load.p99Ms)).toFixed(2)} ms; ` +
      `at ${format(rate)}/s ${reported(steady)}, bare ${reported(steadyBare)}`,
  );
}

/** As many bodies as the service sends, of the same lengths. A single repeated body would stay in the CPU caches. */
function getBodies(lengths: readonly number[]): readonly string[] {
  return lengths.map((length, index) => `/${length}/${index}`);
}

/** Processor seconds per second of the serving thread without requests. */
async function restingCpu({ child }: ChildServer): Promise<number> {
  const before = await getCpuSeconds(child);
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  return ((await getCpuSeconds(child)) - before) / seconds;
}

type Measured = { readonly cpuRate: number; readonly wallRate: number; readonly load: Load };

async function measure({ child }: ChildServer, target: Target): Promise<Measured> {
  const forSeconds = seconds / rounds;
  const before = await getCpuSeconds(child);
  const load = await runClosedLoop(target, forSeconds * 1000);
  const cpuSeconds = (await getCpuSeconds(child)) - before;
  const { requests } = load;
  return { cpuRate: requests / cpuSeconds, wallRate: requests / forSeconds, load };
}

/** Requests each token once, one after the other. None of them is in memory. */
async function measureCold(service: ChildServer, tokens: readonly string[]): Promise<void> {
  const half = Math.floor(tokens.length / 2);
  const lists = {
    "cold candles, 500": tokens.slice(0, half).map((id) => `/v1/candles/${id}?limit=500`),
    "cold latest 100": tokens.slice(half).map((id) => `/v1/trades/market/${id}?limit=100`),
  };
  for (const [name, paths] of Object.entries(lists)) {
    const target = { url: service.url, key, paths, connections: 1 };
    const load = await runConstantRate(target, 40, Math.min(paths.length / 40, 2 * seconds) * 1000);
    console.log(`${name}: ${load.requests} tokens at 40/s, ${reported(load)}`);
  }
}

/** Returns the tokens of the newest trades. */
async function getTokens(url: string): Promise<readonly string[]> {
  const tokens = new Set<string>();
  let cursor: string | null = "";
  for (let pages = 0; cursor !== null && pages < 20; pages += 1) {
    const after: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const response = await ask(url, `/v1/trades?limit=1000${after}`);
    const page = (await response.json()) as {
      data: { token_id: string }[];
      pagination: { next_cursor: string | null };
    };
    for (const { token_id } of page.data) tokens.add(token_id);
    cursor = page.pagination.next_cursor;
  }
  return [...tokens];
}

async function openService(rpcUrl: string): Promise<ChildServer> {
  const service = await startService(dir, {
    ODDWIRE_RPC_URLS: rpcUrl,
    ODDWIRE_ADMIN_KEY: key,
    ...venue.settings,
    ODDWIRE_RATE_LIMIT_ADMIN: "10000000",
  });
  while ((await indexedBlock(service.url)) < blocks - 1)
    await new Promise((resolve) => setTimeout(resolve, 300));
  return service;
}

/** Forty levels per side, like traded books. */
function fillBook(book: VenueBook): void {
  for (let level = 1; level <= 40; level += 1) {
    book.set("BUY", String(level / 100), String(level * 7.5));
    book.set("SELL", String((level + 50) / 100), String(level * 11.25));
  }
}

async function indexedBlock(url: string): Promise<number> {
  const { meta } = (await (await ask(url, "/v1/trades?limit=1")).json()) as {
    meta: { indexed_block: number | null };
  };
  return meta.indexed_block ?? -1;
}

/** Returns the length of the body as sent. */
async function getLength(
  url: string,
  path: string,
  accepted: Target["accepted"] | "identity" = "identity",
): Promise<number> {
  const response = await ask(url, path, accepted);
  await response.arrayBuffer();
  return Number(response.headers.get("content-length"));
}

async function ask(url: string, path: string, accepted = "identity"): Promise<Response> {
  return fetch(`${url}${path}`, { headers: { "x-api-key": key, "accept-encoding": accepted } });
}

/** Processor seconds of the main thread. */
async function getCpuSeconds({ pid }: ChildProcess): Promise<number> {
  const fields =
    (await readFile(`/proc/${pid}/task/${pid}/stat`, "utf8")).split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

function reported({ p50Ms, p99Ms }: Load): string {
  return `p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms`;
}

function format(value: number): string {
  return Math.round(value).toLocaleString("en");
}
