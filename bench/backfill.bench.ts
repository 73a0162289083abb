/**
 * Backfill: JSON-RPC without latency to rows that can be queried, with the node on the same
 * machine. Beside it, in the same run, the raw ceiling: the same answers fetched and parsed as
 * JSON, and nothing else. Arguments: millions of logs (default 1), rounds (default 3).
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { generateKey } from "../src/store/key-format.ts";
import { contractsFromBlock0 } from "./endless-node.ts";

const logsPerBlock = 112;
const millions = Number(process.argv[2] ?? 1);
const rounds = Number(process.argv[3] ?? 3);
const blocks = Math.round((millions * 1_000_000) / logsPerBlock);
const ticksPerSecond = 100;

type Round = {
  readonly logsPerSecond: number;
  readonly cpuSecondsPerMillion: number;
  readonly peakMegabytes: number;
  readonly healthP99Ms: number;
};

const { model = "unknown" } = cpus()[0] ?? {};
console.log(`${model}, ${availableParallelism()} cores, node ${process.version}`);
console.log(`${blocks} blocks, about ${millions} M logs, ${rounds} rounds`);

const node = await startNode();
try {
  const ceilings: number[] = [];
  const results: Round[] = [];
  for (let round = 0; round < rounds; round += 1) {
    ceilings.push(await measureCeiling(node.url));
    results.push(await measureService(node.url));
    const last = results.at(-1);
    console.log(
      `round ${round + 1}: service ${format(last?.logsPerSecond)} logs/s, ` +
        `ceiling ${format(ceilings.at(-1))} logs/s, ${last?.cpuSecondsPerMillion.toFixed(1)} CPU s ` +
        `per M logs, peak ${last?.peakMegabytes.toFixed(0)} MB, health p99 ${last?.healthP99Ms.toFixed(1)} ms`,
    );
  }
  const rate = median(results.map((result) => result.logsPerSecond));
  const ceiling = median(ceilings);
  console.log(
    `median: service ${format(rate)} logs/s, ceiling ${format(ceiling)} logs/s, ratio ${(rate / ceiling).toFixed(2)}`,
  );
} finally {
  node.child.kill();
}

async function measureService(rpcUrl: string): Promise<Round> {
  const dir = await mkdtemp(join(tmpdir(), "oddwire-bench-"));
  const contracts = join(dir, "contracts.json");
  await writeFile(contracts, JSON.stringify(contractsFromBlock0()));
  const key = generateKey("admin");
  const startedAt = performance.now();
  const child = spawn(process.execPath, [pathOf("../src/cli.ts"), "serve"], {
    env: {
      PATH: process.env["PATH"],
      ODDWIRE_RPC_URLS: rpcUrl,
      ODDWIRE_START_BLOCK: "0",
      ODDWIRE_CONTRACTS_FILE: contracts,
      ODDWIRE_DATA_DIR: join(dir, "data"),
      ODDWIRE_PORT: "0",
      ODDWIRE_ADMIN_KEY: key,
      ODDWIRE_LOG_LEVEL: "error",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const { listening } = JSON.parse(await firstLine(child)) as { listening: string };
    const latencies: number[] = [];
    let peakMegabytes = 0;
    for (;;) {
      const askedAt = performance.now();
      await (await fetch(`${listening}/v1/health`)).arrayBuffer();
      latencies.push(performance.now() - askedAt);
      peakMegabytes = Math.max(peakMegabytes, await residentMegabytes(child));
      if ((await finalizedBlock(listening, key)) >= blocks - 1) break;
      await new Promise((resolve) => setTimeout(resolve, 700));
    }
    const seconds = (performance.now() - startedAt) / 1000;
    const cpuSeconds = await cpuSecondsOf(child);
    return {
      logsPerSecond: (millions * 1_000_000) / seconds,
      cpuSecondsPerMillion: cpuSeconds / millions,
      peakMegabytes,
      healthP99Ms: latencies.toSorted((a, b) => a - b)[Math.floor(latencies.length * 0.99)] ?? 0,
    };
  } finally {
    child.kill("SIGKILL");
    await rm(dir, { recursive: true, force: true });
  }
}

/** Fetches the same blocks as the service does and parses the JSON, one request after the other. */
async function measureCeiling(rpcUrl: string): Promise<number> {
  const span = 170;
  const startedAt = performance.now();
  let logs = 0;
  for (let from = 0; from < blocks; from += span) {
    const range = {
      fromBlock: `0x${from.toString(16)}`,
      toBlock: `0x${Math.min(from + span, blocks - 1).toString(16)}`,
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_getLogs", params: [range] });
    const response = await fetch(rpcUrl, { method: "POST", body });
    const { result } = (await response.json()) as { result?: unknown[] };
    if (result === undefined) throw new Error("the node refused the range");
    logs += result.length;
  }
  return logs / ((performance.now() - startedAt) / 1000);
}

async function finalizedBlock(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/v1/trades?limit=1`, { headers: { "x-api-key": key } });
  const body = (await response.json()) as { meta?: { finalized_block: number | null } };
  return body.meta?.finalized_block ?? -1;
}

async function startNode(): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [pathOf("endless-node.ts"), String(blocks)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  return { child, url: await firstLine(child) };
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("no standard output");
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error("the process ended before it was ready");
}

async function residentMegabytes({ pid }: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+([0-9]+) kB/.exec(status)?.[1]) / 1024;
}

async function cpuSecondsOf({ pid }: ChildProcess): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function format(value: number | undefined): string {
  return Math.round(value ?? 0).toLocaleString("en");
}
