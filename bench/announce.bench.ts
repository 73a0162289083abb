/**
 * Stream latency from end to end: from a node that announces a block over its WebSocket, through the service
 * as it is deployed, to the frames at every client. There are 100 trades per second. Finality follows some blocks
 * behind, so blocks are stored during the run. Node, service and clients share this machine. Arguments: clients
 * (default 1000), blocks (default 60), the channel (`trades`, the default, `wallet` or `open_interest`), and `cluster`
 * to measure through the feed: an indexer, ClickHouse, Redis, and three serving nodes with a third of the clients each.
 */
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { toSeq } from "../src/base/ids.ts";
import type { RawLog } from "../src/chain/raw-log.ts";
import { type Fill, isTrade } from "../src/market/fill.ts";
import { ClickHouseServer } from "../test/support/clickhouse/clickhouse-server.ts";
import { writeContractsFile } from "../test/support/contracts-file.ts";
import { anyBlockPlan, buildChain, type GeneratedBlock } from "../test/support/generate-chain.ts";
import { traders } from "../test/support/generate-matches.ts";
import { knownContracts } from "../test/support/recorded-chain.ts";
import { RedisServer } from "../test/support/redis/redis-server.ts";
import { scriptBlocks } from "../test/support/script-blocks.ts";
import { ScriptedNode } from "../test/support/scripted-node.ts";
import { adminKey, Service } from "../test/support/service.ts";
import { allTestMarkets, encodeLog } from "../test/support/test-markets.ts";

const clients = Number(process.argv[2] ?? 1000);
const blockCount = Number(process.argv[3] ?? 60);
const channels = {
  trades: { type: "trades" },
  wallet: { type: "wallet", wallets: traders },
  open_interest: {
    type: "open_interest",
    condition_ids: allTestMarkets.map(({ conditionId }) => conditionId),
  },
} as const;
const isChannel = (word = ""): word is keyof typeof channels => word in channels;
const channel = channels[isChannel(process.argv[4]) ? process.argv[4] : "trades"];
const servingNodes = process.argv.includes("cluster") ? 3 : 1;
const clientsEach = Math.ceil(clients / servingNodes);
const tradesPerSecond = 100;
/** Clients report only at the end. Until then the last block must have reached all of them. */
const settleMs = 3_000;
/** Blocks at the start that are not counted: Node compiles the code then. */
const warmBlocks = 20;

const { model = "unknown" } = cpus()[0] ?? {};
console.log(
  `${model}, ${availableParallelism()} cores, node ${process.version}, ${clients} clients, ` +
    `${servingNodes} serving, channel ${channel.type}`,
);

const contracts = [...knownContracts().byAddress.values()];
const chain = buildDenseChain(warmBlocks + blockCount);
const scripted = scriptBlocks(chain.map(({ block }) => block));
const node = await ScriptedNode.open({ blocks: scripted });
node.setFinalized({ behindHead: 4 });
const start = scripted[0]?.number ?? 0;
node.setHead(start + 5);
const folder = await mkdtemp(join(tmpdir(), "oddwire-bench-"));
const child = fork(fileURLToPath(new URL("stream-clients.ts", import.meta.url)));
const settings = {
  ODDWIRE_CONTRACTS_FILE: await writeContractsFile(folder),
  ODDWIRE_START_BLOCK: String(start),
  ODDWIRE_STREAM_CONNECTIONS_ADMIN: "10000",
  ODDWIRE_CONNECTIONS_PER_IP: "10000",
  ODDWIRE_STREAM_CONNECTIONS_IP: "10000",
};
const closing: (() => Promise<unknown>)[] = [];
try {
  const services = servingNodes === 1 ? [await open("serve", settings)] : await openCluster();
  for (const service of services) await service.waitIndexed(start + 5);
  for (const service of services) await openClients(service);
  const announcedAtMs = await announceBlocks();
  await delay(settleMs);
  report(announcedAtMs, await readSeen());
} finally {
  child.kill();
  for (const close of closing.toReversed()) await close();
  await node.close();
  await rm(folder, { recursive: true, force: true });
}

/** Blocks of about twenty trades each, like blocks of a busy chain. */
function buildDenseChain(count: number): readonly GeneratedBlock[] {
  const plans = fc.sample(anyBlockPlan(20), { seed: 1, numRuns: count });
  const chain = buildChain(plans.map((plan) => ({ ...plan, secondsLater: 1, reports: true })));
  return chain.map(withTransfers);
}

/** Adds the transfer of its shares before each trade: the ledger follows from transfers. */
function withTransfers({ block, fills }: GeneratedBlock): GeneratedBlock {
  const trades = new Map(fills.filter(isTrade).map((fill) => [fill.seq, fill]));
  const logs = block.logs.flatMap((log): readonly RawLog[] => {
    const trade = trades.get(toSeq(block.number, log.logIndex));
    if (trade === undefined) return [log];
    const { maker, taker, side, tokenId, size, exchange } = trade;
    const [from, to] = side === "SELL" ? [maker, taker] : [taker, maker];
    const kind = exchange.generation === 3 ? "position_manager" : "conditional_tokens";
    const tokens = contracts.find((contract) => contract.kind === kind);
    assert(tokens !== undefined);
    const content = { operator: exchange.address, from, to, id: BigInt(tokenId), value: size };
    return [{ ...log, ...encodeLog(tokens, "TransferSingle", content) }, log];
  });
  return { fills, block: { ...block, logs: logs.map((log, logIndex) => ({ ...log, logIndex })) } };
}

function toTrades({ fills }: GeneratedBlock): number {
  return fills.filter(isTrade).length;
}

/** Whether clients get a frame of a block. Open interest follows the prices of markets that are known. */
function isSent({ fills }: GeneratedBlock): boolean {
  const ofMarkets = new Set(allTestMarkets.flatMap(({ tokenIds }) => tokenIds));
  const isIncluded = ({ tokenId }: Fill) =>
    channel.type !== "open_interest" || ofMarkets.has(tokenId);
  return fills.some((fill) => isTrade(fill) && isIncluded(fill));
}

/** Returns when each block was announced, by number. Milliseconds of the clock that all processes share. */
async function announceBlocks(): Promise<ReadonlyMap<number, number>> {
  const announcedAtMs = new Map<number, number>();
  let dueMs = performance.now();
  for (const one of chain.slice(6)) {
    const { number } = one.block;
    if (isSent(one)) announcedAtMs.set(number, performance.timeOrigin + performance.now());
    node.setHead(number);
    dueMs += (toTrades(one) / tradesPerSecond) * 1000;
    await delay(Math.max(1, dueMs - performance.now()));
  }
  for (const one of chain.slice(0, warmBlocks)) announcedAtMs.delete(one.block.number);
  return announcedAtMs;
}

async function open(
  role: "serve" | "index" | "api",
  more: Readonly<Record<string, string>>,
): Promise<Service> {
  const dataDir = join(folder, `data-${closing.length}`);
  const service = await Service.open({ role, rpcUrls: [node.wsUrl], dataDir, settings: more });
  closing.push(() => service.stop());
  return service;
}

async function openCluster(): Promise<readonly Service[]> {
  const [clickhouse] = await ClickHouseServer.openAll(1);
  assert(clickhouse !== undefined);
  closing.push(() => clickhouse.close());
  const redis = await RedisServer.start();
  closing.push(() => redis.close());
  const shared = {
    ...settings,
    ODDWIRE_CLICKHOUSE_URL: clickhouse.url,
    ODDWIRE_REDIS_URL: redis.url,
    ODDWIRE_HMAC_PEPPER: "a pepper that is long enough for a benchmark",
  };
  await open("index", shared);
  const serving: Service[] = [];
  for (let count = 0; count < servingNodes; count += 1) serving.push(await open("api", shared));
  return serving;
}

async function openClients(service: Service): Promise<void> {
  const first = JSON.stringify({ action: "subscribe", channel });
  const port = Number(new URL(service.baseUrl).port);
  const path = "/v1/stream";
  child.send({ open: clientsEach, port, path, key: adminKey, first, seesBlocks: true });
  await once(child, "message");
}

/** Returns when the last bytes of each block reached each client. */
async function readSeen(): Promise<readonly (readonly [block: number, atMs: number])[]> {
  child.send({ reportSeen: true });
  const [{ seen }] = (await once(child, "message")) as [{ seen: [number, number][] }];
  return seen;
}

function report(
  announcedAtMs: ReadonlyMap<number, number>,
  seen: readonly (readonly [block: number, atMs: number])[],
): void {
  const delays = seen.flatMap(([block, atMs]) => {
    const sinceMs = announcedAtMs.get(block);
    return sinceMs === undefined ? [] : [atMs - sinceMs];
  });
  assert.equal(
    delays.length,
    announcedAtMs.size * clientsEach * servingNodes,
    "every client had every block",
  );
  delays.sort((a, b) => a - b);
  const at = (share: number): string => (delays[Math.floor(delays.length * share)] ?? 0).toFixed(1);
  console.log(
    `announced -> frame received, ${announcedAtMs.size} blocks: p50 ${at(0.5)} ms, ` +
      `p90 ${at(0.9)} ms, p99 ${at(0.99)} ms; load of the machine ${loadavg()[0]?.toFixed(1)}`,
  );
}
