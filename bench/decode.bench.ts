/**
 * The pure core on one core: logs of matches of all generations, as they are found in the answer of a
 * node, to events, to facts, to rows ready to insert. Next to it, in the same run, viem's general decoder
 * on the same logs, which it takes as strings. Arguments:
 * thousands of different logs (default 40), rounds (default 5).
 */
import assert from "node:assert/strict";
import { availableParallelism, cpus } from "node:os";
import * as fc from "fast-check";
import { deriveLogFilter } from "../src/chain/parse/log-filter.ts";
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
import { rangeOf } from "../test/support/store-chain.ts";
import { testPairs } from "../test/support/test-markets.ts";
import { median } from "./median.ts";

const logsWanted = Number(process.argv[2] ?? 40) * 1000;
const rounds = Number(process.argv[3] ?? 5);
const transactionsPerBlock = 10;
/** As many as a transaction has on average. */
const logsPerTransaction = 11;
const seed = 20_261_120;
/** Up to ten thousand shares: real amounts have less than 52 bits. */
const usualShares = fc.bigInt({ min: 1n, max: 10n ** 10n });
/** Each measure goes on for this long, so that warming up does not show. */
const measureMs = 1000;
/** Enough that parsing them leaves no garbage to be collected at the expense of what is measured. */
const copiesAtOnce = 3;

const contracts = knownContracts();
const decoder = new LogDecoder(contracts);
const blocks = makeBlocks();
const logCount = blocks.reduce((sum, block) => sum + block.logs.length, 0);
const facts = blocks.map((block) => deriveBlockFacts(block, decoder));
const interval = rangeOf(facts);
const answer = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, result: rpcLogsOf(blocks) }));
const text = JSON.stringify(blocks);
const measures: readonly Measure[] = [
  { name: "decode", make: scanBlocks, run: (fresh) => decodeAll(logsOf(fresh)) },
  { name: "decode and derive", make: scanBlocks, run: deriveAll },
  { name: "encode", make: scanBlocks, run: () => encodeFacts(interval, facts).fills.length },
  { name: "viem", make: parseBlocks, run: (fresh) => decodeAllWithViem(logsOf(fresh)) },
];

/** `run` gets blocks as `make` makes them, which is not measured, and returns how much came out. */
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

/** Blocks of matches on the exchanges of all generations, and nothing else. */
function makeBlocks(): Block[] {
  const anyTransactions = fc.array(anyTransaction(testPairs, usualShares), {
    minLength: transactionsPerBlock,
    maxLength: transactionsPerBlock,
    size: "max",
  });
  const numRuns = Math.ceil(logsWanted / logsPerTransaction / transactionsPerBlock);
  const plans = fc
    .sample(anyTransactions, { seed, numRuns })
    .map((transactions) => ({ secondsLater: 2, reports: false, transactions }));
  return buildChain(plans).map(({ block }) => block);
}

function logsOf(all: readonly Block[]): readonly RawLog[] {
  return all.flatMap((block) => block.logs);
}

/** As nodes send them. */
function rpcLogsOf(all: readonly Block[]) {
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

/** As they come from a node. */
function scanBlocks(): readonly Block[] {
  const { result } = parseBody({ bytes: answer, release: () => {} }) as { result: unknown };
  const { logs, timestamps } = parseLogs(result, deriveLogFilter(decoder.filter));
  assert(logs[0] instanceof ScannedLog && timestamps !== null);
  return assembleBlocks(logs, new Map(), (index) => timestamps[index] ?? 0);
}

/** As strings. */
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
 * By the time the thread had a core, not by the clock: others may want the cores as well. The logs
 * are new ones each time, since strings remember what they cost the first time.
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
