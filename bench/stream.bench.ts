/**
 * The stream: messages per second that one core fans out, compared with a plain `ws` broadcast loop in the same run;
 * the latency of a frame; the cost of compression and of an idle connection; the speed of a replay. A second is a
 * second of processor time of the server process. Arguments: clients (default 1000), rounds (default 20).
 */
import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { on, once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { availableParallelism, cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { type WebSocket, WebSocketServer } from "ws";
import { toSeq } from "../src/base/ids.ts";
import { type BlockFacts, emptyBlock } from "../src/market/block-facts.ts";
import { isTrade } from "../src/market/fill.ts";
import { getRowContext } from "../src/query/row-context.ts";
import { toTradeRow } from "../src/rows/trade-row.ts";
import { DataServer } from "../test/support/open-data-server.ts";
import { encode } from "../test/support/store-chain.ts";

const clients = Number(process.argv[2] ?? 1000);
const rounds = Number(process.argv[3] ?? 20);
const tradesPerBlock = 50;
const historyBlocks = 2000;
const liveClients = 100;
const liveBlocks = 40;
const liveEveryMs = 100;

const { model = "unknown" } = cpus()[0] ?? {};
console.log(
  `${model}, ${availableParallelism()} cores, node ${process.version}, ${clients} clients`,
);

const quotas = {
  connectionsPerKey: { read: 10_000, write: 10_000, admin: 10_000 },
  connectionsPerIp: 10_000,
  subscriptionsMax: 1000,
};
const server = await DataServer.open({ finalBlocks: 900, unfinalizedBlocks: 100, quotas });
const template = server.fills.filter(isTrade).slice(0, tradesPerBlock);
assert.equal(template.length, tradesPerBlock);
const child = fork(fileURLToPath(new URL("stream-clients.ts", import.meta.url)));
try {
  await measureIdle();
  const plain = await measureFanOut("single", "");
  const loop = await measureLoop();
  console.log(`single frames: ${(plain.rate / loop.rate).toFixed(1)} times the plain loop`);
  await measureFanOut("batch=1", "?batch=1");
  const zlib = await measureFanOut("zlib", "?compress=zlib");
  console.log(
    `zlib: ${(zlib.cpuSeconds / plain.cpuSeconds).toFixed(2)} times the processor time of plain`,
  );
  await measureLatency();
  await measureReplay();
  const alone = await measureLive(0);
  const beside = await measureLive(4);
  console.log(`p99 next to 4 replays: ${(beside / alone).toFixed(1)} times that without them`);
} finally {
  child.kill();
  await server.close();
}

type FanOut = { readonly rate: number; readonly cpuSeconds: number };

/** The next block, with trades of a recording at new positions. */
function nextBlock(trades: number): BlockFacts {
  return blockAt(server.newestBlock + 1, trades);
}

function blockAt(number: number, trades: number): BlockFacts {
  const [first] = template;
  assert(first !== undefined);
  const fills = template.slice(0, trades);
  return {
    ...emptyBlock,
    number,
    hash: first.blockHash,
    timestamp: first.timestamp,
    fills: fills.map((fill, index) => ({
      ...fill,
      blockNumber: number,
      seq: toSeq(number, index),
    })),
  };
}

async function measureFanOut(name: string, query: string): Promise<FanOut> {
  await openClients(query, JSON.stringify({ action: "subscribe", channel: { type: "trades" } }));
  await publish();
  const { sent_bytes: bytes } = server.meter;
  const before = process.cpuUsage();
  const startedAt = performance.now();
  for (let round = 0; round < rounds; round += 1) {
    await publish();
    // Clients read what was sent before more follows.
    await new Promise<void>((resolve) => {
      setTimeout(resolve, 20);
    });
  }
  await receive(server.meter.sent_bytes - bytes);
  const cpuSeconds = toSeconds(process.cpuUsage(before));
  const rate = (rounds * tradesPerBlock * clients) / cpuSeconds;
  const wall = (performance.now() - startedAt) / 1000;
  console.log(`${name}: ${format(rate)} messages/s of a core (${wall.toFixed(1)} s in all)`);
  await closeClients();
  return { rate, cpuSeconds };

  async function publish(): Promise<void> {
    await server.hold(nextBlock(tradesPerBlock));
  }
}

/** Sends each message to each client separately, as most servers do. The rows are formatted beforehand. */
async function measureLoop(): Promise<FanOut> {
  const http = createServer();
  const sockets = new Set<WebSocket>();
  new WebSocketServer({ server: http }).on("connection", (socket) => sockets.add(socket));
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  await openClients("", null, { port: (http.address() as AddressInfo).port });
  const context = getRowContext({ facts: { coverage: null }, state: server.state });
  const texts = template.map((fill) =>
    JSON.stringify({ type: "event", data: toTradeRow(fill, context) }),
  );
  const loops = Math.max(1, Math.round(rounds / 4));
  const before = process.cpuUsage();
  let bytes = 0;
  for (let round = 0; round < loops; round += 1) {
    for (const text of texts) for (const socket of sockets) socket.send(text);
    for (const text of texts) bytes += (Buffer.byteLength(text) + 4) * sockets.size;
    await new Promise<void>((resolve) => {
      setTimeout(resolve, 20);
    });
  }
  await receive(bytes);
  const cpuSeconds = toSeconds(process.cpuUsage(before));
  const rate = (loops * texts.length * sockets.size) / cpuSeconds;
  console.log(`plain ws loop: ${format(rate)} messages/s of a core`);
  await closeClients();
  http.close();
  return { rate, cpuSeconds };
}

/** Measures from the block's arrival at the pipeline to its bytes at each client, at 100 trades per second. */
async function measureLatency(): Promise<void> {
  await openClients("", JSON.stringify({ action: "subscribe", channel: { type: "trades" } }));
  const delays: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const { sent_bytes: bytes } = server.meter;
    const block = nextBlock(20);
    const announcedAtMs = performance.timeOrigin + performance.now();
    await server.hold(block);
    const { arrivals } = await receive(server.meter.sent_bytes - bytes);
    delays.push(...arrivals.map((atMs) => atMs - announcedAtMs));
    await new Promise<void>((resolve) => {
      setTimeout(resolve, 200 - (performance.timeOrigin + performance.now() - announcedAtMs));
    });
  }
  delays.sort((a, b) => a - b);
  const at = (share: number): string => (delays[Math.floor(delays.length * share)] ?? 0).toFixed(1);
  console.log(`block indexed -> frame received: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
  await closeClients();
}

/** Runs first: otherwise new connections would reuse freed memory, which this measurement cannot see. */
async function measureIdle(): Promise<void> {
  // Warms up everything that is created only once.
  await openClients("", null, { open: Math.ceil(clients / 10) });
  await collect();
  const before = process.memoryUsage();
  await openClients("", null);
  await collect();
  const after = process.memoryUsage();
  const bytes = after.heapUsed + after.external - before.heapUsed - before.external;
  const record = global.gc === undefined ? " (without --expose-gc: an upper bound)" : "";
  console.log(
    `an idle connection: ${(bytes / clients / 1024).toFixed(1)} KiB of heap and buffers${record}`,
  );
  console.log(`resident: ${((after.rss - before.rss) / clients / 1024).toFixed(1)} KiB`);
  await closeClients();
}

/** Collects garbage first, so that earlier garbage does not count as freed by the measurement. */
async function collect(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    global.gc?.();
    await new Promise<void>((resolve) => {
      setTimeout(resolve, 300);
    });
  }
}

async function measureReplay(): Promise<void> {
  await server.advance({ final: server.store.newestBlock ?? 0 });
  for (let from = 0; from < historyBlocks; from += 500) {
    const first = (server.store.newestBlock ?? 0) + 1;
    const blocks = Array.from({ length: 500 }, (_, at) => blockAt(first + at, tradesPerBlock));
    await server.report([{ kind: "range", batch: encode(blocks), more: false }]);
  }
  for (const query of ["", "?batch=1"]) {
    const before = { ...server.meter };
    const cpu = process.cpuUsage();
    const startedAt = performance.now();
    const frame = { action: "subscribe", channel: { type: "trades" }, resume_from: 0 };
    await openClients(query, JSON.stringify(frame), { open: 1 });
    const trades = historyBlocks * tradesPerBlock;
    let events = 0;
    while (events < trades) {
      await new Promise<void>((resolve) => {
        setTimeout(resolve, 20);
      });
      events = server.meter.replayed_messages - before.replayed_messages;
    }
    const wall = (performance.now() - startedAt) / 1000;
    const cpuSeconds = toSeconds(process.cpuUsage(cpu));
    console.log(
      `replay to one client${query}: ${events} events, ${format(events / wall)}/s, ` +
        `${format(events / cpuSeconds)} a second of processor time`,
    );
    await closeClients();
  }
}

/**
 * Measures the latency of a live frame while other clients replay history, each with another filter. Returns the p99 in
 * ms. Another process announces the blocks, so that a blocked event loop counts.
 */
async function measureLive(replays: number): Promise<number> {
  const live = JSON.stringify({ action: "subscribe", channel: { type: "trades" } });
  await openClients("", live, { open: liveClients, seesBlocks: true });
  const readers = fork(fileURLToPath(new URL("stream-clients.ts", import.meta.url)));
  for (let replay = 1; replay <= replays; replay += 1) {
    const filter = { min_value: `0.00000${replay}` };
    const channel = { type: "trades", filter };
    const first = JSON.stringify({ action: "subscribe", channel, resume_from: 0 });
    await openClients("", first, { open: 1, process: readers });
  }
  const announcedAtMs = new Map<number, number>();
  const { replayed_messages: replayed } = server.meter;
  const startedAt = performance.now();
  child.send({ announce: liveBlocks, everyMs: liveEveryMs });
  for await (const [{ atMs }] of on(child, "message") as AsyncIterable<[{ atMs: number }]>) {
    const block = nextBlock(20);
    announcedAtMs.set(block.number, atMs);
    await server.hold(block);
    if (announcedAtMs.size === liveBlocks) break;
  }
  const rate = (server.meter.replayed_messages - replayed) / (performance.now() - startedAt);
  // Waits until the last block has reached all clients.
  await new Promise<void>((resolve) => {
    setTimeout(resolve, 3000);
  });
  child.send({ reportSeen: true });
  const { seen } = (await answer(child)) as { seen: [number, number][] };
  const delays = seen.map(([block, atMs]) => atMs - (announcedAtMs.get(block) ?? Number.NaN));
  assert.equal(delays.length, liveBlocks * liveClients, "every client has every block");
  delays.sort((a, b) => a - b);
  const at = (share: number): number => delays[Math.floor(delays.length * share)] ?? 0;
  console.log(
    `announced -> frame at ${liveClients} clients next to ${replays} replays: p50 ${at(0.5).toFixed(1)} ms, ` +
      `p99 ${at(0.99).toFixed(1)} ms, ${format(rate * 1000)} events/s replayed`,
  );
  readers.kill();
  await closeClients();
  return at(0.99);
}

async function openClients(
  query: string,
  first: string | null,
  at: { port?: number; open?: number; seesBlocks?: boolean; process?: ChildProcess } = {},
): Promise<void> {
  const { port = Number(new URL(server.edge.url).port), open = clients, seesBlocks = false } = at;
  const { process: clientProcess = child } = at;
  // Clears the rate window of the key. Connections that are open would not survive the jump of the clock.
  if (open > 1) server.edge.clock.advance(61_000);
  for (let left = open; left > 0; left -= 2000) {
    const path = `/v1/stream${query}`;
    const key = server.edge.keys.admin;
    clientProcess.send({ open: Math.min(left, 2000), port, path, key, first, seesBlocks });
    await answer(clientProcess);
  }
}

async function receive(bytes: number): Promise<{ readonly arrivals: readonly number[] }> {
  child.send({ await: bytes });
  return (await answer(child)) as { arrivals: number[] };
}

async function closeClients(): Promise<void> {
  child.send({ close: true });
  await answer(child);
  await new Promise<void>((resolve) => {
    setTimeout(resolve, 300);
  });
}

async function answer(from: ChildProcess): Promise<unknown> {
  const [message] = (await once(from, "message")) as [unknown];
  return message;
}

function toSeconds({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1_000_000;
}

function format(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
