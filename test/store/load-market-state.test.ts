/** A state loaded from the store equals a state to which every stored block was applied. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { systemClock } from "../../src/base/time/clock.ts";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import { toFinalDelta, toUnfinalizedDelta } from "../../src/market/delta.ts";
import { MarketsFile } from "../../src/views/disk/markets-file.ts";
import { MarketState } from "../../src/views/markets/market-state.ts";
import { describeState } from "../support/describe-state.ts";
import { anyBlockPlan, anyOrder, buildChain } from "../support/generate-chain.ts";
import { listedMarkets } from "../support/listed-markets.ts";
import { MemoryStateStore } from "../support/memory-state-store.ts";
import { testSeed } from "../support/property-settings.ts";
import { knownContracts, readRecordedBlocks, recordingNames } from "../support/recorded-chain.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { fillStore, getFacts } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";

const contracts = knownContracts();

function applied(blocks: readonly BlockFacts[]): MarketState {
  const state = new MarketState(contracts, new MemoryStateStore());
  for (const block of blocks) state.apply(toFinalDelta(block));
  return state;
}

/** Loads the stored facts as a new process does. */
async function loaded(
  { store }: StoreFolder,
  savedThrough: number | null = null,
): Promise<MarketState> {
  const state = new MarketState(contracts, new MemoryStateStore(savedThrough));
  await store.loadView(state);
  return state;
}

describe("a loaded state", () => {
  const anyPlans = fc.array(anyBlockPlan(), { minLength: 30, maxLength: 50 });
  const chains = fc.sample(fc.tuple(anyPlans, anyOrder), { seed: testSeed, numRuns: 3 });
  for (const [index, [plans, order]] of chains.entries()) {
    test(`of random chain ${index} equals the state of the applied blocks, and stays equal as more blocks are applied`, async (t) => {
      const folder = await StoreFolder.open(t);
      const blocks = getFacts(buildChain(plans, { order }));
      const [final, unfinalized] = [blocks.slice(0, -5), blocks.slice(-5)];
      await fillStore(folder.store, { final, unfinalized: [], sizes: [5, 1, 17] });
      await folder.reopen();
      const state = await loaded(folder);
      const expected = applied(final);
      assert.deepEqual(describeState(state), describeState(expected));
      // A copy without any block catches up like any other copy.
      assert.deepEqual(describeState(await loaded(folder, -1)), describeState(expected));
      for (const block of unfinalized) {
        for (const one of [state, expected]) one.apply(toUnfinalizedDelta(block));
      }
      assert.deepEqual(describeState(state), describeState(expected));
    });
  }

  for (const name of recordingNames) {
    test(`of ${name} lists the same markets with the same totals as the applied blocks`, async (t) => {
      const recorded = readRecordedBlocks(name).map((block) => ({ block, fills: [] }));
      const blocks = getFacts(recorded);
      const folder = await StoreFolder.open(t);
      await fillStore(folder.store, { final: blocks, unfinalized: [], sizes: [1000] });
      const expected = describeListed(applied(blocks));
      assert.deepEqual(describeListed(await loaded(folder)), expected);
      assert.deepEqual(describeListed(await loaded(folder, -1)), expected);
    });
  }

  test("R16: equals a state that followed from the start if it is loaded while blocks are appended", async (t) => {
    const random = new SeededRandom(testSeed);
    const plans = fc.sample(anyBlockPlan(), { seed: testSeed, numRuns: 60 });
    const blocks = getFacts(buildChain(plans));
    const { path, store } = await StoreFolder.open(t);
    const [first, rest] = [blocks.slice(0, 5), blocks.slice(5)];
    await fillStore(store, { final: first, unfinalized: [], sizes: [2] });
    const appending = { isOver: false };
    const appended = fillStore(store, { final: rest, unfinalized: [], sizes: [1, 3, 2] }).finally(
      () => {
        appending.isOver = true;
      },
    );
    const loads = { whole: 0, onCopy: 0 };
    while (!appending.isOver) {
      const { coverage } = store;
      const isWhole = random.chance(0.5);
      const file = MarketsFile.open(path, { contracts, coverage, repairs: 0, clock: systemClock });
      const state = isWhole
        ? new MarketState(contracts, new MemoryStateStore())
        : new MarketState(contracts, file);
      if (coverage !== null) await state.load(store.store, coverage);
      const covered = blocks.filter(({ number }) => number <= (coverage?.last.number ?? -1));
      assert.deepEqual(describeState(state), describeState(applied(covered)));
      if (!isWhole && random.chance(0.3)) state.save();
      loads[isWhole ? "whole" : "onCopy"] += 1;
      file.close();
    }
    await appended;
    assert(loads.whole > 0 && loads.onCopy > 0);
  });

  test("is empty for an empty store", async (t) => {
    const { store } = await StoreFolder.open(t);
    const state = new MarketState(contracts, new MemoryStateStore());
    await store.loadView(state);
    assert.deepEqual(
      describeState(state),
      describeState(new MarketState(contracts, new MemoryStateStore())),
    );
  });
});

function describeListed({ directory, dayWindow }: MarketState): unknown {
  const conditionIds = listedMarkets(directory).toSorted();
  assert(conditionIds.length > 10);
  return conditionIds.map((conditionId) => {
    const market = directory.market(conditionId);
    const tokens = market?.tokens.map(({ tokenId }) => ({
      totals: directory.getTotals(tokenId),
      day: dayWindow.getVolume(tokenId),
      candle: dayWindow.getCandle(tokenId),
    }));
    return { market, tokens };
  });
}
