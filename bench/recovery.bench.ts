/**
 * How long the store takes to be ready after kill -9, and a fork of 200 blocks to be taken back.
 * `ROWS` says how many fills the store holds (default 2,000,000). The texts of markets are not part
 * of it: there are 10,000 tokens without a market.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { type Hash, seqOf, tokenIdOf } from "../src/base/ids.ts";
import type { BlockFacts } from "../src/market/block-facts.ts";
import { digestOf } from "../src/market/digest.ts";
import { isTrade } from "../src/market/fill.ts";
import { MarketState } from "../src/market/market-state.ts";
import { FactStore } from "../src/store/fact-store.ts";
import { loadMarketState } from "../src/store/load-market-state.ts";
import { anyBlockPlan, buildChain } from "../test/support/generate-chain.ts";
import { knownContracts } from "../test/support/recorded-chain.ts";
import { encode, factsOf, fillsOf } from "../test/support/store-chain.ts";

const rows = Number(process.env["ROWS"] ?? 2_000_000);
const fillsPerBlock = 40;
const blocksPerAppend = 2_500;
const tokens = 10_000;
const forkBlocks = 200;
const blocks = Math.ceil(rows / fillsPerBlock);

const plans = fc.sample(anyBlockPlan(), { seed: 1, numRuns: 200 });
const templates = fillsOf(factsOf(buildChain(plans))).filter(isTrade);

function blockAt(number: number): BlockFacts {
  const hash = `0x${number.toString(16).padStart(64, "0")}` as Hash;
  const timestamp = 1_700_000_000 + number * 2;
  const fills = Array.from({ length: fillsPerBlock }, (_, index) => {
    const template = templates[(number + index) % templates.length];
    assert.ok(template !== undefined);
    const tokenId = tokenIdOf(BigInt(1 + ((number * 7 + index * 13) % tokens)));
    return { ...template, seq: seqOf(number, index), timestamp, blockHash: hash, tokenId };
  });
  return { number, hash, timestamp, fills, events: [], quarantined: [], anomalies: [] };
}

function blocksFrom(from: number, count: number): BlockFacts[] {
  return Array.from({ length: count }, (_, index) => blockAt(from + index));
}

async function fillStore(path: string): Promise<void> {
  const store = await FactStore.open(path);
  for (let from = 1; from <= blocks; from += blocksPerAppend) {
    const count = Math.min(blocksPerAppend, blocks - from + 1);
    await store.append(encode(blocksFrom(from, count)));
  }
  process.stdout.write("filled\n");
}

async function measure(path: string): Promise<void> {
  const startedAt = performance.now();
  const store = await FactStore.open(path);
  const openedAt = performance.now();
  const state = new MarketState(knownContracts());
  await loadMarketState(store, state, null);
  const readyAt = performance.now();
  for (const block of blocksFrom(blocks + 1, forkBlocks)) {
    store.tail.push(block);
    state.applyHeld(digestOf([block]), block);
  }
  const forkedAt = performance.now();
  store.tail.unwindTo(blocks);
  state.unwindTo(blocks, store.coverage?.last.timestamp ?? 0);
  const unwoundAt = performance.now();
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  process.stdout.write(
    `${rows} fills: open ${ms(openedAt - startedAt)}, state ${ms(readyAt - openedAt)}, ` +
      `together ${ms(readyAt - startedAt)} (goal: 2,000 at 20 M)\n` +
      `${forkBlocks} blocks of ${fillsPerBlock} fills unwound in ${ms(unwoundAt - forkedAt)} (goal: 200)\n`,
  );
  await store.close();
}

const [, , folder] = process.argv;
if (folder === undefined) {
  const path = await mkdtemp(join(tmpdir(), "oddwire-bench-"));
  const child = spawn(process.execPath, [import.meta.filename, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "exit");
  await measure(path);
  await rm(path, { recursive: true });
} else await fillStore(folder);
