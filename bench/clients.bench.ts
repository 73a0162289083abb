/**
 * The clients: a frame of pandas over Arrow against pages of JSON, past prices of cold tokens, and answers of the MCP
 * server against the HTTP call that each makes. New blocks arrive meanwhile. Arguments: millions of trades
 * (default 1), the number of requests of each kind (default 300), and a folder where the store is built once and kept
 * (default: a folder that is deleted at the end).
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Connection } from "../clients/typescript/src/connection.ts";
import { generateKey } from "../src/access/key-format.ts";
import { SeededRandom } from "../test/support/seeded-random.ts";
import { systemSettings } from "../test/support/system-settings.ts";
import { killServers, startServer, stopService } from "./child-server.ts";
import { fillColdStore, getTokens, serveColdStore, toBlocks } from "./cold-store.ts";
import { getBlockTime } from "./endless-node.ts";
import { runOneByOne } from "./http-load.ts";
import { median } from "./median.ts";

const millions = Number(process.argv[2] ?? 1);
const requests = Number(process.argv[3] ?? 300);
const folder = process.argv[4];
const trades = millions * 1_000_000;
const blocks = toBlocks(trades);
const secondsPerBlock = Math.round((365 * 86_400) / blocks);
const newBlockEveryMs = 1500;
const frameRows = 1_000_000;
const key = generateKey("admin");
const random = new SeededRandom(Math.floor(performance.timeOrigin));
const cli = fileURLToPath(new URL("../src/cli.ts", import.meta.url));

const { model = "unknown" } = cpus()[0] ?? {};
console.log(`${model}, ${availableParallelism()} cores, node ${process.version}`);

const dir = folder ?? (await mkdtemp(join(tmpdir(), "oddwire-bench-")));
try {
  await mkdir(dir, { recursive: true });
  const dataDir = join(dir, "data");
  if (!existsSync(dataDir)) await fillColdStore({ dataDir, trades, secondsPerBlock });
  const settings = [blocks, secondsPerBlock, newBlockEveryMs].map(String);
  const node = await startServer("endless-node.ts", settings);
  const service = await serveColdStore(node.url, { dataDir, dir, key });
  console.log(`${trades} trades, one more block every ${newBlockEveryMs} ms`);
  await measurePastPrices(service.url);
  await measureAgents(service.url);
  measureFrames(service.url);
  await stopService(service);
} finally {
  killServers();
  if (folder === undefined) await rm(dir, { recursive: true, force: true });
}

/** Requests the prices of cold tokens at times at which they are traded: memory has those before and after. */
async function measurePastPrices(url: string): Promise<void> {
  const { ids, longLived, alive } = getTokens(trades);
  const youngest = ids.length - alive - longLived - 1;
  const anyPath = (): string => {
    const index = random.integer(1, ids.length - 1);
    const first = Math.max(0, index - 1 - longLived - alive);
    const last = Math.max(first, Math.min(youngest, index - 1 - longLived) - 1);
    const place = index <= longLived ? random.integer(0, youngest) : random.integer(first, last);
    const block = Math.min(blocks - 1, Math.floor((place / youngest) * blocks));
    const at = getBlockTime(block, secondsPerBlock);
    return `/v1/price/${BigInt(ids[index] ?? 0)}?at=${at}`;
  };
  const toPaths = () => Array.from({ length: requests }, anyPath);
  const target = { url, key, connections: 1 };
  // The tokens must be cold, but not the code.
  await runOneByOne({ ...target, paths: toPaths() });
  const { p50Ms, p99Ms } = await runOneByOne({ ...target, paths: toPaths() });
  console.log(`price at a time: p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`);
}

/**
 * Compares answers of the MCP server with the HTTP calls that they make. Each way reads tokens that the other never
 * reads, so both are equally cold; right afterwards it reads the same token again.
 */
async function measureAgents(url: string): Promise<void> {
  const agent = new Client({ name: "bench", version: "1" });
  const args = [cli, "mcp", "--url", url];
  const env = { ...systemSettings(), ODDWIRE_API_KEY: key };
  await agent.connect(new StdioClientTransport({ command: process.execPath, args, env }));
  const http = new Connection({ url, key });
  const paths = {
    get_price: (token: string) => `/v1/price/${token}`,
    list_trades: (token: string) => `/v1/trades/market/${token}?limit=20`,
    get_candles: (token: string) => `/v1/candles/${token}?limit=48`,
  };
  for (const [name, toPath] of Object.entries(paths)) {
    const tokens = shuffle(getTokens(trades).ids.map((id) => String(BigInt(id))));
    const calls = {
      http: async (token: string) => http.json(toPath(token)),
      agent: async (token: string) => agent.callTool({ name, arguments: { token } }),
    };
    const first = { http: [] as number[], agent: [] as number[] };
    const again = { http: [] as number[], agent: [] as number[] };
    for (let turn = 0; turn < 2 * requests; turn += 1) {
      for (const way of ["http", "agent"] as const) {
        const token = tokens.pop() ?? "";
        const firstMs = await time(async () => calls[way](token));
        const againMs = await time(async () => calls[way](token));
        // The first half warms up the code.
        if (turn < requests) continue;
        first[way].push(firstMs);
        again[way].push(againMs);
      }
    }
    printRatio(`${name}, first read of a token`, first);
    printRatio(`${name}, read again`, again);
  }
  const pings: number[] = [];
  for (let turn = 0; turn < requests; turn += 1) pings.push(await time(async () => agent.ping()));
  console.log(`ping, which reads nothing: ${median(pings).toFixed(2)} ms`);
  await agent.close();
}

async function time(call: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await call();
  return performance.now() - startedAt;
}

function printRatio(name: string, { http, agent }: { http: number[]; agent: number[] }): void {
  const [ofHttp, ofAgent] = [median(http), median(agent)];
  const ratio = (ofAgent / ofHttp).toFixed(2);
  console.log(
    `${name}: ${ofAgent.toFixed(2)} ms, ${ratio} of its HTTP call (${ofHttp.toFixed(2)} ms)`,
  );
}

/** Returns the items in a random order. */
function shuffle<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, place: random.integer(0, 2 ** 31) }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item);
}

/** Reads the newest trades as a frame, over Arrow and over pages, and compares the frame with the CSV. */
function measureFrames(url: string): void {
  const program = fileURLToPath(new URL("read_frames.py", import.meta.url));
  const source = fileURLToPath(new URL("../clients/python/src", import.meta.url));
  const env = { ...systemSettings(), PYTHONPATH: source, ODDWIRE_URL: url, ODDWIRE_API_KEY: key };
  const rows = String(Math.min(trades, frameRows));
  execFileSync("/usr/bin/python3", [program, rows], { env, stdio: "inherit" });
}
