/**
 * The pure core on one core: decodes logs of matches of all generations, as found in the response of a node, into
 * events, derives facts, and encodes rows that are ready to insert. The baseline in the same run is viem's general
 * decoder on the same logs, which it reads as strings. Arguments: thousands of different logs (default 40), rounds
 * (default 5).
 */
import assert from "node:assert/strict";
import { availableParallelism, cpus } from "node:os";
import * as fc from "fast-check";
import { parseBody } from "../src/chain/parse/parse-body.ts";
import { formatQuantity } from "../src/chain/parse/parse-hex.ts";
import { parseLogs } from "../src/chain/parse/parse-log.ts";
import { ScannedLog } from "../src/chain/parse/scanned-log.ts";
import type { Block, RawLog } from "../src/chain/raw-log.ts";
import { assembleBlocks } from "../src/chain/sync/assemble-blocks.ts";
import { LogDecoder } from "../src/contracts/log-decoder.ts";
import { deriveBlockFacts } from "../src/market/block-facts.ts";
import { encodeFacts } from "../src/storage/codec/encode-facts.ts";
import { decodeWithViem } from "../test/support/event-abis.ts";
import { buildChain } from "../test/support/generate-chain.ts";
import { anyTransaction } from "../test/support/generate-matches.ts";
import { knownContracts } from "../test/support/recorded-chain.ts";
import { getRange } from "../test/support/store-chain.ts";
import { testPairs } from "../test/support/test-markets.ts";
import { median } from "./median.ts";

const requestedLogs = Number(process.argv[2] ?? 40) * 1000;
const rounds = Number(process.argv[3] ?? 5);
const transactionsPerBlock = 10;
/** The average of logs in a transaction. */
const logsPerTransaction = 11;
const seed = 20_261_120;
/** Up to ten thousand shares: real amounts have fewer than 52 bits. */
const usualShares = fc.bigInt({ min: 1n, max: 10n ** 10n });
/** The minimum duration of each measurement, so that the warm-up does not matter. */
const measureMs = 1000;
/** Copies made before each timed pass: so many that the garbage of making them is not collected in the timed part. */
const copiesAtOnce = 3;

const contracts = knownContracts();
const decoder = new LogDecoder(contracts);
const blocks = makeBlocks();
const logCount = blocks.reduce((sum, block) => sum + block.logs.length, 0);
const facts = blocks.map((block) => deriveBlockFacts(block, decoder));
const interval = getRange(facts);
const answer = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, result: toRpcLogs(blocks) }));
const text = JSON.stringify(blocks);
const measures: readonly Measure[] = [
  { name: "decode", make: scanBlocks, run: (fresh) => decodeAll(getLogs(fresh)) },
  { name: "decode and derive", make: scanBlocks, run: deriveAll },
  { name: "encode", make: scanBlocks, run: () => encodeFacts(interval, facts).rows.fills.length },
  { name: "viem", make: parseBlocks, run: (fresh) => decodeAllWithViem(getLogs(fresh)) },
];

/** `make` creates blocks, unmeasured. `run` processes them and returns the number of results. */
type Measure = {
  readonly name: string;
  readonly make: () => readonly Block[];
  readonly run: (fresh: readonly Block[]) => number;
};

const { model = "unknown" } = cpus()[0] ?? {};
console.log(`${model}, ${availableParallelism()} cores, node ${process.version}`);
console.log(`${logCount} logs in ${blocks.length} blocks, ${rounds} rounds, seed ${seed}`);

const rates = new Map(measures.map(({ name }) => [name, [] as number[]]));
for (let round = 0; round < rounds; round += 1) {
  for (const measure of measures) rates.get(measure.name)?.push(logsPerSecond(measure));
}
const viem = median(rates.get("viem") ?? []);
for (const [name, all] of rates) {
  const rate = median(all);
  const spread = `${format(Math.min(...all))} to ${format(Math.max(...all))}`;
  console.log(
    `${name}: ${format(rate)} logs/s (${spread}), ${(rate / viem).toFixed(1)} times viem`,
  );
}

/** Blocks that contain only matches, on the exchanges of all generations. */
function makeBlocks(): Block[] {
  const anyTransactions = fc.array(anyTransaction(testPairs, usualShares), {
    minLength: transactionsPerBlock,
    maxLength: transactionsPerBlock,
    size: "max",
  });
  const numRuns = Math.ceil(requestedLogs / logsPerTransaction / transactionsPerBlock);
  const plans = fc
    .sample(anyTransactions, { seed, numRuns })
    .map((transactions) => ({ secondsLater: 2, reports: false, transactions }));
  return buildChain(plans).map(({ block }) => block);
}

function getLogs(all: readonly Block[]): readonly RawLog[] {
  return all.flatMap((block) => block.logs);
}

/** The logs as nodes send them. */
function toRpcLogs(all: readonly Block[]) {
  return all.flatMap(({ logs, timestamp }) =>
    logs.map(({ address, topics, data, blockHash, txHash, ...place }) => ({
      address,
      topics,
      data,
      blockNumber: formatQuantity(place.blockNumber),
      transactionHash: txHash,
      transactionIndex: formatQuantity(place.txIndex),
      blockHash,
      blockTimestamp: formatQuantity(timestamp),
      logIndex: formatQuantity(place.logIndex),
      removed: false,
    })),
  );
}

/** The blocks as read from the response of a node. */
function scanBlocks(): readonly Block[] {
  const { result } = parseBody({ bytes: answer, release: () => {} }) as { result: unknown };
  const { logs } = parseLogs(result);
  assert(logs[0] instanceof ScannedLog);
  return assembleBlocks(logs, new Map());
}

/** The blocks with their logs as strings. */
function parseBlocks(): readonly Block[] {
  return JSON.parse(text) as Block[];
}

function decodeAll(raw: readonly RawLog[]): number {
  let decoded = 0;
  for (const log of raw) if (decoder.decode(log) !== null) decoded += 1;
  assert.equal(decoded, raw.length, "every log is one of ours");
  return decoded;
}

function deriveAll(fresh: readonly Block[]): number {
  let fills = 0;
  for (const block of fresh) fills += deriveBlockFacts(block, decoder).fills.length;
  return fills;
}

function decodeAllWithViem(raw: readonly RawLog[]): number {
  let decoded = 0;
  for (const log of raw) {
    const contract = contracts.byAddress.get(log.address);
    if (contract !== undefined && decodeWithViem(log, contract) !== null) decoded += 1;
  }
  return decoded;
}

/**
 * Logs per second of the thread's processor time, because other processes may use the cores too. Each pass gets new
 * logs, since V8 caches what it computed for a string.
 */
function logsPerSecond({ make, run }: Measure): number {
  let passes = 0;
  let coreMs = 0;
  while (coreMs < measureMs) {
    const copies = Array.from({ length: copiesAtOnce }, make);
    const before = process.threadCpuUsage();
    const results = copies.map(run);
    const { user, system } = process.threadCpuUsage(before);
    assert(
      results.every((result) => result > 0),
      "the work was done",
    );
    coreMs += (user + system) / 1000;
    passes += copiesAtOnce;
  }
  return ((passes * logCount) / coreMs) * 1000;
}

function format(rate: number): string {
  return Math.round(rate).toLocaleString("en-US");
}
