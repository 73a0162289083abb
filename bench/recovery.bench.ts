/**
 * How long the service takes to be ready after kill -9, and to revert a reorg of 200 blocks. `ROWS` is the number of
 * fills in the store (default 2,000,000; the goal is for 20,000,000), `MARKETS` the number of their markets (default
 * 150,000). `STORE` names a folder where a store is built and kept; if it exists, only starts are measured. Building a
 * store of 20 million fills takes ten minutes.
 *
 * The fills cover 25 days. Each day has fills of up to 140,000 tokens, each of which is traded for some days. Markets
 * have a line of text. The process is the real one, measured from its start to the first 200 of `/v1/ready`. The node
 * is scripted. The starts:
 * 1. without a copy of the markets, which is rebuilt
 * 2. with a copy up to the newest blocks, killed while it follows the chain
 * 3. with a copy that is `BEHIND` fills old (default a tenth of all), older than copies usually get
 * 4. as 2, with all fills
 * Then, with a node at full speed, the service is killed repeatedly while it catches up. `KILLED=1` runs only this
 * part.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { type Address, type ConditionId, type Hash, type TokenId, toSeq } from "../src/base/ids.ts";
import { systemClock } from "../src/base/time/clock.ts";
import { type BlockFacts, emptyBlock, type LocatedEvent } from "../src/market/block-facts.ts";
import { toUnfinalizedDelta } from "../src/market/delta.ts";
import { isTrade } from "../src/market/fill.ts";
import { deriveGen3TokenIds } from "../src/market/ids/gen3-ids.ts";
import { toWord } from "../src/market/ids/keccak.ts";
import { MarketsFile } from "../src/views/disk/markets-file.ts";
import { IndexedFacts } from "../src/views/indexed-facts.ts";
import { MarketState } from "../src/views/markets/market-state.ts";
import { appendFacts } from "../test/support/append-facts.ts";
import { tieToContracts } from "../test/support/contracts-file.ts";
import { deriveNativeEventId } from "../test/support/derive-gen3-ids.ts";
import { anyBlockPlan, buildChain } from "../test/support/generate-chain.ts";
import { knownContracts } from "../test/support/recorded-chain.ts";
import { scriptBlocks } from "../test/support/script-blocks.ts";
import { ScriptedNode } from "../test/support/scripted-node.ts";
import type { ServiceOptions } from "../test/support/service.ts";
import { encode, getFacts, getFills } from "../test/support/store-chain.ts";
import { killServers } from "./child-server.ts";
import { measureKilledLives } from "./killed-lives.ts";
import { measureStart, seconds } from "./measure-start.ts";
import { median } from "./median.ts";

const rows = Number(process.env["ROWS"] ?? 2_000_000);
const behind = Number(process.env["BEHIND"] ?? rows / 10);
const fillsPerBlock = 40;
const blocksPerAppend = 2_500;
const markets = Number(process.env["MARKETS"] ?? 150_000);
const tokens = 2 * markets;
/** Tokens that are traded at the same time; nearly all of them trade within a day. */
const tokensAlive = 140_000;
const days = 25;
const forkBlocks = 200;
const headBlocks = 20;
const blocks = Math.ceil(rows / fillsPerBlock);
const secondsPerBlock = (days * 86_400) / blocks;

const plans = fc.sample(anyBlockPlan(), { seed: 1, numRuns: 200 });
const templates = getFills(getFacts(buildChain(plans))).filter(isTrade);
const nobody = `0x${"11".repeat(20)}` as Address;
/** Created on first use. */
const eventIds: Hash[] = [];

function hashAt(number: number): Hash {
  return `0x${number.toString(16).padStart(64, "0")}` as Hash;
}

function timeAt(number: number): number {
  return 1_700_000_000 + Math.floor(number * secondsPerBlock);
}

function getEventId(market: number): Hash {
  return (eventIds[market] ??= deriveNativeEventId("binary", toWord(market)));
}

/**
 * Returns how many markets exist before a block. The first 100 blocks create the markets of all active tokens, later
 * blocks the others at an even pace.
 */
function marketsBefore(number: number): number {
  const alive = (tokensAlive / 2) * Math.min(1, number / 100);
  const share = Math.max(0, number - 100) / blocks;
  return Math.min(markets, Math.floor(alive + share * (markets - tokensAlive / 2)));
}

/** The market events of a block. */
function eventsAt(number: number): LocatedEvent[] {
  const place = {
    timestamp: timeAt(number),
    blockHash: hashAt(number),
    txHash: hashAt(number),
    address: nobody,
  };
  const from = marketsBefore(number - 1);
  const reported = Array.from({ length: marketsBefore(number) - from }, (_, index) => index);
  return reported.flatMap((index): LocatedEvent[] => {
    const eventId = getEventId(from + index);
    const words = `q: title: Will number ${from + index} win?, description: Yes if it wins.`;
    const text = `0x${Buffer.from(words).toString("hex")}` as const;
    const at = fillsPerBlock + 2 * index;
    return [
      {
        ...place,
        seq: toSeq(number, at),
        event: { kind: "gen3_event_announced", eventId, marketType: "binary" },
      },
      {
        ...place,
        seq: toSeq(number, at + 1),
        event: {
          kind: "gen3_text_registered",
          requestId: eventId,
          requester: nobody,
          isNumerical: false,
          text,
        },
      },
    ];
  });
}

/** A pseudorandom number from 0 to below 1: the finalizer of MurmurHash. */
function getRoll(index: number): number {
  let bits = Math.imul(index ^ (index >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}

/** A token; few are traded often, and most rarely. */
function tokenAt(number: number, index: number): TokenId {
  const first = Math.floor((number / blocks) * (tokens - tokensAlive));
  const token =
    (first + Math.floor(getRoll(number * fillsPerBlock + index) ** 3 * tokensAlive)) % tokens;
  const [yes, no] = deriveGen3TokenIds(getEventId(token >>> 1) as string as ConditionId);
  return (token & 1) === 0 ? yes : no;
}

/** Up to 500 shares, at any whole number of cents. */
function amountsAt(
  number: number,
  index: number,
): { readonly size: bigint; readonly value: bigint } {
  const roll = getRoll(number * fillsPerBlock + index);
  const cents = BigInt(1 + ((number + index) % 99));
  const shares = BigInt(1 + Math.floor(roll * 500));
  return { size: shares * 1_000_000n, value: shares * cents * 10_000n };
}

function blockAt(number: number): BlockFacts {
  const [hash, timestamp] = [hashAt(number), timeAt(number)];
  const fills = Array.from({ length: fillsPerBlock }, (_, index) => {
    const template = templates[(number + index) % templates.length];
    assert.ok(template !== undefined);
    const seq = toSeq(number, index);
    const place = { seq, timestamp, blockHash: hash };
    return { ...template, ...place, tokenId: tokenAt(number, index), ...amountsAt(number, index) };
  });
  return {
    ...emptyBlock,
    number,
    hash,
    timestamp,
    fills,
    events: eventsAt(number),
  };
}

function blocksFrom(from: number, count: number): BlockFacts[] {
  return Array.from({ length: count }, (_, index) => blockAt(from + index));
}

/** Fills the store with blocks up to and including `to`. */
async function fillStore(dataDir: string, to: number): Promise<void> {
  const store = await IndexedFacts.open(dataDir);
  let appended = Promise.resolve();
  for (let from = (store.newestBlock ?? 0) + 1; from <= to; from += blocksPerAppend) {
    // Encoded while the engine stores the previous blocks.
    const batch = encode(blocksFrom(from, Math.min(blocksPerAppend, to - from + 1)));
    await appended;
    appended = appendFacts(store, batch);
  }
  await appended;
  process.stdout.write("filled\n");
  // Keeps the process alive until it is killed.
  setInterval(() => {}, 60_000);
}

async function fillInChild(dataDir: string, to: number): Promise<void> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [import.meta.filename, dataDir, String(to)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "exit");
  print(`filled up to block ${to} in ${seconds(performance.now() - startedAt)}`);
}

/** Opens a node that has the blocks around the newest stored block. */
async function openNode(newest: number): Promise<ScriptedNode> {
  const numbers = Array.from({ length: 2 * headBlocks }, (_, index) => newest - headBlocks + index);
  const node = await ScriptedNode.open({
    blocks: scriptBlocks(
      numbers.map((number) => ({
        number,
        hash: hashAt(number),
        parentHash: hashAt(number - 1),
        timestamp: timeAt(number),
        logs: [],
      })),
    ),
  });
  return node;
}

type Starts = {
  readonly newest: number;
  readonly end: "stop" | "kill9";
  /** How many starts, one after the other; default 1. */
  readonly rounds?: number;
};

/** Starts the service on the store filled up to `newest`, prints how long that took, and ends the service. */
async function measureStarts(
  what: string,
  options: Omit<ServiceOptions, "rpcUrls">,
  { newest, end, rounds = 1 }: Starts,
): Promise<void> {
  const readyMs: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const node = await openNode(newest);
    const measured = await measureStart({ ...options, rpcUrls: [node.url] });
    await measured.service[end]();
    await node.close();
    readyMs.push(measured.readyMs);
    print(`${what}: ${measured.reported}`);
  }
  if (rounds > 1) print(`${what}: ready after ${seconds(median(readyMs))} in the middle`);
}

async function measureRevert(dataDir: string): Promise<void> {
  const store = await IndexedFacts.open(dataDir);
  const { coverage } = store;
  assert.ok(coverage !== null);
  const contracts = knownContracts();
  const file = MarketsFile.open(dataDir, { contracts, coverage, repairs: 0, clock: systemClock });
  const state = new MarketState(contracts, file);
  await store.loadView(state);
  const newest = coverage.last.number;
  for (const block of blocksFrom(newest + 1, forkBlocks)) {
    store.apply(toUnfinalizedDelta(block));
    state.apply(toUnfinalizedDelta(block));
  }
  const forkedAt = performance.now();
  store.revert(newest);
  state.revert(newest);
  const tookMs = performance.now() - forkedAt;
  print(
    `${forkBlocks} blocks of ${fillsPerBlock} fills reverted in ${tookMs.toFixed(1)} ms (goal: 200)`,
  );
  file.close();
  await store.close();
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function measure(): Promise<void> {
  const kept = process.env["STORE"];
  const folder = kept ?? (await mkdtemp(join(tmpdir(), "oddwire-bench-")));
  try {
    const dataDir = join(folder, "data");
    const isMade = existsSync(dataDir);
    await mkdir(folder, { recursive: true });
    if (process.env["KILLED"] === "1") return await measureKilledLives(folder);
    const settings = {
      ODDWIRE_CONTRACTS_FILE: await tieToContracts(folder, { dataDir, startBlock: 1 }),
      ODDWIRE_START_BLOCK: "1",
    };
    const options = { dataDir, settings };
    if (isMade) {
      await measureStarts("killed", options, { newest: blocks, end: "kill9", rounds: 5 });
      return;
    }
    const copied = blocks - Math.ceil(behind / fillsPerBlock);
    await fillInChild(dataDir, copied);
    print(`${copied * fillsPerBlock} fills`);
    const then = { newest: copied, end: "kill9" } as const;
    await measureStarts("1. without a copy", options, { ...then, end: "stop" });
    // By now the blocks of the node are stored too.
    await measureStarts("2. killed, copy as it was", options, { ...then, rounds: 3 });
    await fillInChild(dataDir, blocks);
    print(`${rows} fills, ${behind} since the copy`);
    const now = { newest: blocks, end: "kill9" } as const;
    await measureStarts("3. killed, copy behind", options, { ...now, rounds: 3 });
    await measureRevert(dataDir);
    await measureStarts("3b. the same, stopped", options, { ...now, end: "stop" });
    await measureStarts("4. killed, all rows and copy", options, { ...now, rounds: 3 });
    await measureKilledLives(folder);
  } finally {
    killServers();
    if (kept === undefined) await rm(folder, { recursive: true });
  }
}

const [, , dataDir, to] = process.argv;
if (dataDir === undefined) await measure();
else await fillStore(dataDir, Number(to));
