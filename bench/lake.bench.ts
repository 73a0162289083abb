/**
 * The lake: the rates of an export and an import beside that of indexing the same blocks over JSON-RPC without latency,
 * the latency of requests while a service appends to its lake, and the bytes of the lake beside those of the store.
 * Arguments: blocks of the endless node's chain (default 60000, of about 48 fills and as many rows of the ledger each:
 * with few, the start of a command is a tenth of its time), fills of the store whose bytes are counted (default 2000000;
 * 0 for none; its hashes are as different as real ones, those of the endless node are not).
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { generateKey } from "../src/access/key-format.ts";
import { openFolderLake } from "../src/lake/folder-lake.ts";
import { readManifest } from "../src/lake/import-lake.ts";
import type { Manifest } from "../src/lake/manifest.ts";
import { openFolder } from "../src/storage/embedded/open-folder.ts";
import { tieToContracts } from "../test/support/contracts-file.ts";
import { killServers, startServer, startService, stopService } from "./child-server.ts";
import { fillColdStore, fillsPerTrade, toBlocks } from "./cold-store.ts";
import { fillLedger } from "./ledger-store.ts";

const blocks = Number(process.argv[2] ?? 60_000);
const fills = Number(process.argv[3] ?? 2_000_000);
/** The chains take this many days, of which the last is not final. */
const days = 5.1;
const daySeconds = 86_400;
const ticksPerSecond = 100;
const watchEveryMs = 20;
const requestEveryMs = 5;
const cli = fileURLToPath(new URL("../src/cli.ts", import.meta.url));
const key = generateKey("admin");

const { model = "unknown" } = cpus()[0] ?? {};
console.log(`${model}, ${availableParallelism()} cores, node ${process.version}`);
const dir = await mkdtemp(join(tmpdir(), "oddwire-bench-"));
try {
  await measureRates();
  if (fills > 0) await measureBytes();
} finally {
  killServers();
  await rm(dir, { recursive: true, force: true });
}

async function measureRates(): Promise<void> {
  const folder = join(dir, "rates");
  await mkdir(folder);
  const seconds = Math.floor((days * daySeconds) / blocks);
  const env = { ...process.env, TRANSFERS: "on" };
  const node = await startServer("endless-node.ts", [String(blocks), String(seconds)], env);
  const settings = { ODDWIRE_RPC_URLS: node.url, ODDWIRE_ADMIN_KEY: key };
  const startedAt = performance.now();
  const service = await startService(folder, settings);
  while ((await readFinalized(service.url)) < blocks - 1) await pause(100);
  const indexedSeconds = (performance.now() - startedAt) / 1000;
  await stopService(service);

  const lake = join(folder, "lake");
  const stored = {
    ODDWIRE_START_BLOCK: "0",
    ODDWIRE_CONTRACTS_FILE: join(folder, "contracts.json"),
    ODDWIRE_DATA_DIR: join(folder, "data"),
  };
  const written = await run(["export", "--lake", lake], stored);
  const manifest = await readManifest(openFolderLake(lake), null);
  const rows = countRows(manifest, "fills");
  const share = (manifest.last_block.number + 1) / blocks;
  print("index", rows / share, { seconds: indexedSeconds });
  print("export", rows, written);
  const copied = await run(["import", "--lake", lake], {
    ...stored,
    ODDWIRE_DATA_DIR: join(folder, "copy"),
  });
  print("import", rows, copied);
  const ratio = rows / copied.seconds / (rows / share / indexedSeconds);
  console.log(`import: ${ratio.toFixed(1)} times the rate of indexing`);

  const appended = join(folder, "appended");
  const beside = await startService(folder, { ...settings, ODDWIRE_LAKE_DIR: appended });
  const isAppended = async () => {
    const manifest = await readManifest(openFolderLake(appended), null).catch(() => null);
    return manifest !== null && manifest.markets !== null;
  };
  const during = await requestUntil(beside.url, isAppended);
  const quiet = await requestUntil(beside.url, after(10));
  printLatencies("beside an export", during);
  printLatencies("without", quiet);
  killServers();
}

async function measureBytes(): Promise<void> {
  const folder = join(dir, "bytes");
  await mkdir(folder);
  const dataDir = join(folder, "data");
  const env = {
    ODDWIRE_START_BLOCK: "0",
    ODDWIRE_CONTRACTS_FILE: await tieToContracts(folder, { dataDir, startBlock: 0 }),
    ODDWIRE_DATA_DIR: dataDir,
  };
  const trades = Math.round(fills / fillsPerTrade);
  const secondsPerBlock = Math.floor((days * daySeconds) / toBlocks(trades));
  await fillColdStore({ dataDir, trades, secondsPerBlock });
  await fillLedger({ dataDir, trades, secondsPerBlock });
  const engine = await openFolder(dataDir);
  const stored = await engine.query(
    `SELECT table, sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'oddwire'
     AND rows > 0 GROUP BY table ORDER BY 3 DESC`,
  );
  await engine.close();
  const storeFills = Number(stored.find(([table]) => table === "fills")?.[1]);
  const storeBytes = stored.reduce((sum, [, , bytes]) => sum + Number(bytes), 0) / storeFills;
  console.log(`store: ${storeBytes.toFixed(1)} bytes a fill`);

  const lake = join(folder, "lake");
  const written = await run(["export", "--lake", lake], env);
  const manifest = await readManifest(openFolderLake(lake), null);
  const rows = countRows(manifest, "fills");
  print("export", rows, written);
  const tables = new Set(manifest.slices.flatMap(({ files }) => Object.keys(files)));
  let [all, facts] = [0, 0];
  for (const table of tables) {
    const bytes = sum(manifest, table, "bytes") / rows;
    all += bytes;
    if (!["trades", "candles_1m"].includes(table)) facts += bytes;
    const each = sum(manifest, table, "bytes") / sum(manifest, table, "rows");
    console.log(`lake, ${table}: ${bytes.toFixed(1)} bytes a fill, ${each.toFixed(1)} a row`);
  }
  console.log(
    `lake: ${all.toFixed(1)} bytes a fill, ${(all / storeBytes).toFixed(2)} of the store; what a store is ` +
      `rebuilt from: ${facts.toFixed(1)}, ${(facts / storeBytes).toFixed(2)}`,
  );
  const copy = { ...env, ODDWIRE_DATA_DIR: join(folder, "copy") };
  print("import", rows, await run(["import", "--lake", lake], copy));
}

type Measured = {
  readonly seconds: number;
  readonly cpuSeconds?: number;
  readonly megabytes?: number;
};

/** Runs a command to its end. Its memory is the highest, with files that it has mapped. */
async function run(words: readonly string[], env: NodeJS.ProcessEnv): Promise<Measured> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [cli, ...words], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (text: Buffer) => {
    errors += text;
  });
  const watched = watch(child);
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Error(`${words.join(" ")} ended with ${String(code)}: ${errors}`);
  return { seconds: (performance.now() - startedAt) / 1000, ...(await watched) };
}

async function watch(child: ChildProcess) {
  const { pid } = child;
  let [cpuSeconds, megabytes] = [0, 0];
  while (child.exitCode === null) {
    const [stat = "", status = ""] = await Promise.all(
      ["stat", "status"].map((name) => readFile(`/proc/${pid}/${name}`, "utf8").catch(() => "")),
    );
    const fields = stat.split(") ")[1]?.split(" ") ?? [];
    cpuSeconds = Math.max(
      cpuSeconds,
      (Number(fields[11]) + Number(fields[12])) / ticksPerSecond || 0,
    );
    megabytes = Math.max(megabytes, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
    await pause(watchEveryMs);
  }
  return { cpuSeconds, megabytes };
}

/** Returns the milliseconds of each response until something is true. */
async function requestUntil(
  url: string,
  isDone: () => Promise<boolean> | boolean,
): Promise<readonly number[]> {
  const latencies: number[] = [];
  while (!(await isDone())) {
    const since = performance.now();
    const answer = await fetch(`${url}/v1/trades?limit=100`, { headers: { "x-api-key": key } });
    await answer.arrayBuffer();
    latencies.push(performance.now() - since);
    await pause(requestEveryMs);
  }
  return latencies;
}

function after(seconds: number): () => boolean {
  const endsAt = performance.now() + seconds * 1000;
  return () => performance.now() > endsAt;
}

async function readFinalized(url: string): Promise<number> {
  const answer = await fetch(`${url}/v1/trades?limit=1`, { headers: { "x-api-key": key } });
  const { meta } = (await answer.json()) as { meta: { finalized_block: number | null } };
  return meta.finalized_block ?? -1;
}

function countRows(manifest: Manifest, table: string): number {
  return sum(manifest, table, "rows");
}

function sum({ slices }: Manifest, table: string, what: "rows" | "bytes"): number {
  return slices.reduce((total, { files }) => total + (files[table]?.[what] ?? 0), 0);
}

function print(what: string, rows: number, { seconds, cpuSeconds, megabytes }: Measured): void {
  const rate = Math.round(rows / seconds).toLocaleString("en");
  const cpu =
    cpuSeconds === undefined ? "" : `, ${((cpuSeconds * 1e6) / rows).toFixed(1)} CPU s a million`;
  const memory = megabytes === undefined ? "" : `, ${megabytes.toFixed(0)} MB at most`;
  console.log(
    `${what}: ${Math.round(rows)} fills in ${seconds.toFixed(1)} s, ${rate} fills/s${cpu}${memory}`,
  );
}

function printLatencies(what: string, latencies: readonly number[]): void {
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1);
  console.log(
    `requests ${what}: ${sorted.length}, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, slowest ${sorted.at(-1)?.toFixed(1)} ms`,
  );
}
