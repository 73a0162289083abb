/**
 * Backfill: from JSON-RPC without latency to queryable rows, with the node on the same machine. The baseline in the
 * same run is the ceiling: fetching the same responses and parsing their JSON. Each round is measured without wallets,
 * on a chain of exchange logs alone, and with them, on one whose fills come with transfers. Arguments: millions of logs
 * (default 1), rounds (default 3), and `server` to store in a ClickHouse server on the same machine and print its rows
 * per second and bytes per fill.
 *
 * Prints the processor time of each quarter: the cost per log must not grow with the number of stored logs.
 * `node bench/backfill.bench.ts 20 1` is the long run. At the end a service is stopped in the middle of a backfill.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { generateKey } from "../src/access/key-format.ts";
import { ClickHouseServer } from "../test/support/clickhouse/clickhouse-server.ts";
import { contractsFromBlock0 } from "./endless-node.ts";
import { median } from "./median.ts";

const logsPerBlock = 112;
const millions = Number(process.argv[2] ?? 1);
const rounds = Number(process.argv[3] ?? 3);
const isOnServer = process.argv[4] === "server";
const blocks = Math.round((millions * 1_000_000) / logsPerBlock);
const lastBlock = blocks - 1;
const ticksPerSecond = 100;
/** Short enough for a p99. */
const pauseMs = 20;
const standingEveryMs = 200;

/** Resident memory in MB, and the part of it that is not backed by a file, as the engine's code is. */
type Memory = { readonly resident: number; readonly anonymous: number };

/** Processor seconds are per million logs. */
type Ceiling = {
  readonly logs: number;
  readonly logsPerSecond: number;
  readonly cpuSeconds: number;
};
type Round = {
  readonly logsPerSecond: number;
  readonly cpuSeconds: number;
  /** Processor seconds per million logs of each quarter. */
  readonly quarters: readonly number[];
  readonly peak: Memory;
  readonly healthP50Ms: number;
  readonly healthP99Ms: number;
};

/** A service with or without wallets, and the node with the logs that it requests. */
type Kind = {
  readonly wallets: "on" | "off";
  readonly node: { readonly child: ChildProcess; readonly url: string };
  readonly ceilings: Ceiling[];
  readonly results: Round[];
};

const { model = "unknown" } = cpus()[0] ?? {};
console.log(`${model}, ${availableParallelism()} cores, node ${process.version}`);
console.log(`${blocks} blocks, about ${millions} M logs, ${rounds} rounds`);

/**
 * Folders are deleted only at the end: on ext4, creating files is slow for minutes after many were deleted,
 * and a round must not pay for the previous one.
 */
const folders: string[] = [];
const kinds: readonly Kind[] = await Promise.all(
  (["off", "on"] as const).map(async (wallets) => {
    return { wallets, node: await startNode(wallets), ceilings: [], results: [] };
  }),
);
const [server = null] = isOnServer ? await ClickHouseServer.openAll(1) : [];
let databases = 0;
try {
  for (let round = 1; round <= rounds; round += 1) {
    console.log(`round ${round}, CPU seconds per million logs:`);
    for (const kind of kinds) await measureRound(kind);
  }
  for (const { wallets, ceilings, results } of kinds) {
    const rate = median(results.map(({ logsPerSecond }) => logsPerSecond));
    const ceiling = median(ceilings.map(({ logsPerSecond }) => logsPerSecond));
    console.log(
      `median, wallets ${wallets}: service ${format(rate)} logs/s, ceiling ${format(ceiling)} logs/s, ` +
        `ratio ${(rate / ceiling).toFixed(2)}`,
    );
  }
  for (const kind of kinds) {
    const stopMs = await measureStop(kind);
    console.log(`stopped in the middle of a backfill within ${stopMs.toFixed(0)} ms`);
  }
} finally {
  for (const { node } of kinds) node.child.kill();
  await server?.close();
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
}

async function measureRound(kind: Kind): Promise<void> {
  const { wallets, node, ceilings, results } = kind;
  const nodeBefore = await getCpuSeconds(node.child);
  const ceiling = await measureCeiling(node.url);
  const ofNode = (await getCpuSeconds(node.child)) - nodeBefore;
  const result = await measureService(kind, ceiling.logs);
  ceilings.push(ceiling);
  results.push(result);
  console.log(
    `  wallets ${wallets}, ceiling ${format(ceiling.logsPerSecond)} logs/s, ${ceiling.cpuSeconds.toFixed(1)} CPU s; ` +
      `the node itself ${((ofNode * 1e6) / ceiling.logs).toFixed(1)} CPU s`,
  );
  console.log(
    `  wallets ${wallets}, service ${format(result.logsPerSecond)} logs/s, ${result.cpuSeconds.toFixed(1)} CPU s ` +
      `(by quarter ${result.quarters.map((one) => one.toFixed(1)).join(", ")}), ` +
      `peak ${result.peak.resident.toFixed(0)} MB, of it ${result.peak.anonymous.toFixed(0)} MB anonymous, ` +
      `health p50 ${result.healthP50Ms.toFixed(1)} ms, p99 ${result.healthP99Ms.toFixed(1)} ms`,
  );
  if (server !== null) await printStored(server, ceiling.logs / result.logsPerSecond);
}

/** Milliseconds from SIGTERM to the end of the process, sent at full speed once a tenth is stored. */
async function measureStop(kind: Kind): Promise<number> {
  const key = generateKey("admin");
  const child = await startService(kind, { dir: await makeFolder(), key });
  try {
    const { listening } = JSON.parse(await firstLine(child)) as { listening: string };
    while ((await finalizedBlock(listening, key)) < blocks / 10) await pause(pauseMs);
    const ended = once(child, "exit");
    const reportedAt = performance.now();
    child.kill("SIGTERM");
    await ended;
    return performance.now() - reportedAt;
  } finally {
    child.kill("SIGKILL");
  }
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-bench-"));
  folders.push(folder);
  return folder;
}

async function measureService(kind: Kind, logs: number): Promise<Round> {
  const dir = await makeFolder();
  const key = generateKey("admin");
  const startedAt = performance.now();
  const child = await startService(kind, { dir, key });
  try {
    const { listening } = JSON.parse(await firstLine(child)) as { listening: string };
    const seen = await watch({ child, url: listening, key }, logs / blocks);
    const seconds = (performance.now() - startedAt) / 1000;
    const latencies = seen.latenciesMs.toSorted((a, b) => a - b);
    const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
    return {
      logsPerSecond: logs / seconds,
      cpuSeconds: ((await getCpuSeconds(child)) * 1e6) / logs,
      quarters: [0, 1, 2, 3].map((one) =>
        getCost(seen.standings, (logs * one) / 4, (logs * (one + 1)) / 4),
      ),
      peak: seen.peak,
      healthP50Ms: at(0.5),
      healthP99Ms: at(0.99),
    };
  } finally {
    child.kill("SIGKILL");
  }
}

async function startService(
  { wallets, node }: Kind,
  { dir, key }: { readonly dir: string; readonly key: string },
): Promise<ChildProcess> {
  const contracts = join(dir, "contracts.json");
  await writeFile(contracts, JSON.stringify(contractsFromBlock0()));
  return spawn(process.execPath, [getPath("../src/cli.ts"), "serve"], {
    env: {
      PATH: process.env["PATH"],
      ODDWIRE_RPC_URLS: node.url,
      ODDWIRE_WALLETS: wallets,
      ODDWIRE_START_BLOCK: "0",
      ODDWIRE_CONTRACTS_FILE: contracts,
      ODDWIRE_DATA_DIR: join(dir, "data"),
      ODDWIRE_PORT: "0",
      ODDWIRE_ADMIN_KEY: key,
      ODDWIRE_TRUSTED_PROXIES: "127.0.0.1",
      ODDWIRE_LOG_LEVEL: "error",
      ...(server === null ? {} : databaseSettings(server)),
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** Settings for a new database, one for each service. */
function databaseSettings({ url }: ClickHouseServer): Record<string, string> {
  databases += 1;
  return {
    ODDWIRE_CLICKHOUSE_URL: url,
    ODDWIRE_CLICKHOUSE_USER: "default",
    ODDWIRE_CLICKHOUSE_DATABASE: `backfill_${databases}`,
  };
}

/**
 * Prints the contents of the newest database: rows of all tables, and bytes on disk per fill before parts are merged.
 */
async function printStored(server: ClickHouseServer, seconds: number): Promise<void> {
  const answer = await server.ask(
    `SELECT table, sum(rows), sum(bytes_on_disk) FROM system.parts
     WHERE database = 'backfill_${databases}' AND active GROUP BY table ORDER BY table`,
  );
  const tables = answer.split("\n").map((line) => line.split("\t"));
  const toRows = (name?: string) =>
    tables.reduce((sum, [table, rows]) => sum + (table === (name ?? table) ? Number(rows) : 0), 0);
  const fills = toRows("fills");
  const bytes = tables.map(([table, , size]) => [table, Number(size) / fills] as const);
  const all = bytes.reduce((sum, [, size]) => sum + size, 0);
  console.log(
    `  server ${format(toRows() / seconds)} rows/s, ${all.toFixed(0)} bytes per fill ` +
      `(${bytes.map(([table, size]) => `${table} ${size.toFixed(1)}`).join(", ")})`,
  );
}

/** How many logs are stored, and the processor time spent so far. */
type SyncStatus = { readonly logs: number; readonly cpuSeconds: number };

/** Polls the service until it has stored everything. */
async function watch(
  service: { readonly child: ChildProcess; readonly url: string; readonly key: string },
  logsOfBlock: number,
) {
  const { child, url, key } = service;
  const latenciesMs: number[] = [];
  const standings: SyncStatus[] = [];
  let peak: Memory = { resident: 0, anonymous: 0 };
  for (let standingDueAt = 0; ; ) {
    const requestedAt = performance.now();
    // Every request has a new IP address: one address would exceed its limit.
    const caller = `10.0.${(latenciesMs.length >> 8) & 255}.${latenciesMs.length & 255}`;
    const response = await fetch(`${url}/v1/health`, { headers: { "x-forwarded-for": caller } });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`health was answered with ${response.status}`);
    latenciesMs.push(performance.now() - requestedAt);
    if (requestedAt >= standingDueAt) {
      standingDueAt = requestedAt + standingEveryMs;
      const memory = await getMemory(child);
      if (memory.resident > peak.resident) peak = memory;
      const stored = (await finalizedBlock(url, key)) + 1;
      standings.push({ logs: stored * logsOfBlock, cpuSeconds: await getCpuSeconds(child) });
      if (stored >= blocks) return { latenciesMs, standings, peak };
    }
    await pause(pauseMs);
  }
}

/** Processor seconds per million logs between `from` and `to` stored logs, by the nearest samples. */
function getCost(standings: readonly SyncStatus[], from: number, to: number): number {
  const near = (logs: number): SyncStatus =>
    standings.reduce((best, one) =>
      Math.abs(one.logs - logs) < Math.abs(best.logs - logs) ? one : best,
    );
  const [first, last] = [near(Math.max(0, from)), near(to)];
  return ((last.cpuSeconds - first.cpuSeconds) * 1e6) / (last.logs - first.logs);
}

/** Fetches the blocks that the service fetches and parses the JSON, one request after the other. */
async function measureCeiling(rpcUrl: string): Promise<Ceiling> {
  const span = 64;
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  let logs = 0;
  for (let from = 0; from <= lastBlock; from += span) {
    const range = {
      fromBlock: `0x${from.toString(16)}`,
      toBlock: `0x${Math.min(from + span - 1, lastBlock).toString(16)}`,
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_getLogs", params: [range] });
    const response = await fetch(rpcUrl, { method: "POST", body });
    const { result } = (await response.json()) as { result?: unknown[] };
    if (result === undefined) throw new Error("the node refused the range");
    logs += result.length;
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  return {
    logs,
    logsPerSecond: logs / ((performance.now() - startedAt) / 1000),
    cpuSeconds: (user + system) / logs,
  };
}

async function finalizedBlock(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/v1/trades?limit=1`, { headers: { "x-api-key": key } });
  const body = (await response.json()) as { meta?: { finalized_block: number | null } };
  return body.meta?.finalized_block ?? -1;
}

async function startNode(transfers: Kind["wallets"]): Promise<Kind["node"]> {
  const child = spawn(process.execPath, [getPath("endless-node.ts"), String(blocks)], {
    env: { ...process.env, TRANSFERS: transfers },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return { child, url: await firstLine(child) };
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("no standard output");
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error("the process ended before it was ready");
}

async function getMemory({ pid }: ChildProcess): Promise<Memory> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const megabytes = (name: string) =>
    Number(new RegExp(`${name}:\\s+([0-9]+) kB`).exec(status)?.[1]) / 1024;
  return { resident: megabytes("VmRSS"), anonymous: megabytes("RssAnon") };
}

async function getCpuSeconds({ pid }: ChildProcess): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

function getPath(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}

function format(value: number | undefined): string {
  return Math.round(value ?? 0).toLocaleString("en");
}
