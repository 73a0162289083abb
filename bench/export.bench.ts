/**
 * Exports over HTTP: a file of all trades and a file of all fills in each format. Prints rows per second, the processor
 * time per million rows of the main thread and of the whole service, memory, and the latency of other requests:
 * `/v1/health` is requested every few milliseconds on a separate connection, so its slowest response is about the
 * longest turn of the main thread. Arguments: rows of a file (default 1000000), formats separated by commas (default
 * all), a folder that keeps the store for the next run (default: a folder that is deleted).
 */
import type { ChildProcess } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { get, type IncomingMessage } from "node:http";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { generateKey } from "../src/access/key-format.ts";
import { fileFormats } from "../src/api/bulk/bulk-format.ts";
import { type ChildServer, killServers, startServer, startService } from "./child-server.ts";

const rows = Number(process.argv[2] ?? 1_000_000);
const formats = process.argv[3]?.split(",") ?? Object.keys(fileFormats);
const kept = process.argv[4] ?? null;
/** A lower bound: a block has about 55 trades. */
const tradesPerBlock = 50;
const blocks = Math.ceil(rows / tradesPerBlock);
const ticksPerSecond = 100;
const healthEveryMs = 5;
const memoryEveryMs = 50;

const { model = "unknown" } = cpus()[0] ?? {};
console.log(`${model}, ${availableParallelism()} cores, node ${process.version}`);

const dir = kept ?? (await mkdtemp(join(tmpdir(), "oddwire-bench-")));
await mkdir(dir, { recursive: true });
const key = generateKey("admin");
try {
  const node = await startServer("endless-node.ts", [String(blocks)]);
  const service = await openService(node.url);
  console.log(`${blocks} blocks are stored`);
  for (const list of ["trades", "fills"]) {
    for (const format of formats) await measure(service, `/v1/${list}?format=${format}`);
  }
} finally {
  killServers();
  if (kept === null) await rm(dir, { recursive: true, force: true });
}

async function measure({ child, url }: ChildServer, path: string): Promise<void> {
  const [mainBefore, allBefore] = [await getCpuSeconds(child, "main"), await getCpuSeconds(child)];
  const idleMegabytes = await residentMegabytes(child);
  const watching = new AbortController();
  const health = watchHealth(url, watching.signal);
  const memory = watchMemory(child, watching.signal);
  const startedAt = performance.now();
  const file = await download(url + path);
  const seconds = (performance.now() - startedAt) / 1000;
  watching.abort();
  const latencies = (await health).toSorted((a, b) => a - b);
  const at = (share: number) => (latencies[Math.floor(latencies.length * share)] ?? 0).toFixed(1);
  const perMillion = (cpuSeconds: number) => ((cpuSeconds * 1e6) / file.rows).toFixed(1);
  const main = perMillion((await getCpuSeconds(child, "main")) - mainBefore);
  const all = perMillion((await getCpuSeconds(child)) - allBefore);
  console.log(
    `${path}: ${grouped(file.rows)} rows, ${(file.bytes / 1e6).toFixed(0)} MB, ` +
      `${grouped(file.rows / seconds)} rows/s; CPU s a million rows: main thread ${main}, all ${all}; ` +
      `memory ${idleMegabytes.toFixed(0)} MB before, ${(await memory).toFixed(0)} MB at most; ` +
      `health p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, slowest ${latencies.at(-1)?.toFixed(1)} ms`,
  );
}

async function download(url: string): Promise<{ rows: number; bytes: number }> {
  const answer = await request(url, { "x-api-key": key });
  let bytes = 0;
  for await (const chunk of answer) bytes += (chunk as Buffer).length;
  if (answer.statusCode !== 200) throw new Error(`${url} was answered with ${answer.statusCode}`);
  return { rows: Number(answer.headers["x-row-count"]), bytes };
}

/** Returns the milliseconds of each response. */
async function watchHealth(url: string, signal: AbortSignal): Promise<readonly number[]> {
  const latencies: number[] = [];
  while (!signal.aborted) {
    const requestedAt = performance.now();
    // Every request has a new IP address: one address would exceed its limit.
    const count = latencies.length;
    const caller = `10.${(count >> 16) & 255}.${(count >> 8) & 255}.${count & 255}`;
    const answer = await request(`${url}/v1/health`, { "x-forwarded-for": caller });
    for await (const _ of answer);
    latencies.push(performance.now() - requestedAt);
    await new Promise((resolve) => setTimeout(resolve, healthEveryMs));
  }
  return latencies;
}

/** Returns the peak of resident memory in MB. */
async function watchMemory(child: ChildProcess, signal: AbortSignal): Promise<number> {
  let most = 0;
  while (!signal.aborted) {
    most = Math.max(most, await residentMegabytes(child));
    await new Promise((resolve) => setTimeout(resolve, memoryEveryMs));
  }
  return most;
}

function request(url: string, headers: Record<string, string>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { headers }, resolve).once("error", reject);
  });
}

async function openService(rpcUrl: string): Promise<ChildServer> {
  const service = await startService(dir, {
    ODDWIRE_RPC_URLS: rpcUrl,
    ODDWIRE_ADMIN_KEY: key,
    ODDWIRE_EXPORT_MAX_ROWS: String(rows),
    ODDWIRE_TRUSTED_PROXIES: "127.0.0.1",
  });
  while ((await indexedBlock(service.url)) < blocks - 1)
    await new Promise((resolve) => setTimeout(resolve, 300));
  return service;
}

async function indexedBlock(url: string): Promise<number> {
  const answer = await fetch(`${url}/v1/trades?limit=1`, { headers: { "x-api-key": key } });
  const { meta } = (await answer.json()) as { meta: { finalized_block: number | null } };
  return meta.finalized_block ?? -1;
}

/** Processor seconds of the main thread, or of all threads. */
async function getCpuSeconds({ pid }: ChildProcess, of: "main" | "all" = "all"): Promise<number> {
  const path = of === "all" ? `/proc/${pid}/stat` : `/proc/${pid}/task/${pid}/stat`;
  const fields = (await readFile(path, "utf8")).split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

async function residentMegabytes({ pid }: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+([0-9]+) kB/.exec(status)?.[1]) / 1024;
}

function grouped(value: number): string {
  return Math.round(value).toLocaleString("en");
}
