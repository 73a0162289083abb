/** The copy of the markets: a start that uses it ends with the same state as applying every stored block. */

import assert from "node:assert/strict";
import { stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { storeLimits } from "../../src/base/config/limits.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import type { Contracts } from "../../src/contracts/contracts.ts";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import { toFinalDelta, toUnfinalizedDelta } from "../../src/market/delta.ts";
import type { VenueMetadata } from "../../src/market/venue-metadata.ts";
import { MarketsFile } from "../../src/views/disk/markets-file.ts";
import { MarketState } from "../../src/views/markets/market-state.ts";
import { describeState } from "../support/describe-state.ts";
import { anyBlockPlan, anyOrder, buildChain } from "../support/generate-chain.ts";
import { listedMarkets } from "../support/listed-markets.ts";
import { MemoryStateStore } from "../support/memory-state-store.ts";
import { testSeed } from "../support/property-settings.ts";
import { knownContracts, readRecordedBlocks } from "../support/recorded-chain.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { SimulatedClock } from "../support/simulated-clock.ts";
import { fillStore, getFacts } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";
import { waitFor } from "../support/wait-for.ts";

const contracts = knownContracts();
const clock = new SimulatedClock();

function applied(blocks: readonly BlockFacts[]): MarketState {
  const state = new MarketState(contracts, new MemoryStateStore());
  for (const block of blocks) state.apply(toFinalDelta(block));
  return state;
}

function openFile(
  { path, store }: Pick<StoreFolder, "path" | "store">,
  { configured = contracts }: { configured?: Contracts } = {},
): MarketsFile {
  return MarketsFile.open(path, {
    contracts: configured,
    coverage: store.coverage,
    repairs: 0,
    clock,
  });
}

/** Opens the copy and loads the state as the service does. Closes the copy without a save, like a crash. */
async function withState(
  folder: StoreFolder,
  look: (state: MarketState, file: MarketsFile) => void,
  configured = contracts,
): Promise<void> {
  const file = openFile(folder, { configured });
  const state = new MarketState(configured, file);
  await folder.store.loadView(state);
  look(state, file);
  file.close();
}

const recorded = getFacts(
  readRecordedBlocks("contracts-gen3").map((block) => ({ block, fills: [] })),
);

const middle = Math.floor(recorded.length / 2);

/** A folder with a whole chain, and a copy of the markets that was saved after half of it. */
async function halfSaved(t: Parameters<typeof StoreFolder.open>[0]): Promise<StoreFolder> {
  const folder = await StoreFolder.open(t);
  const half = recorded.slice(0, middle);
  await fillStore(folder.store, { final: half, unfinalized: [], sizes: [1000] });
  await withState(folder, (state) => state.save());
  await fillStore(folder.store, {
    final: recorded.slice(half.length),
    unfinalized: [],
    sizes: [1000],
  });
  return folder;
}

describe("the copy of the markets", () => {
  const anyPlans = fc.array(anyBlockPlan(), { minLength: 20, maxLength: 30 });
  const chains = fc.sample(fc.tuple(anyPlans, anyOrder), { seed: testSeed, numRuns: 3 });
  for (const [index, [plans, order]] of chains.entries()) {
    test(`R9, R10: continues from any save, with any unfinalized blocks above it, chain ${index}`, async (t) => {
      const random = new SeededRandom(testSeed + index);
      const blocks = getFacts(buildChain(plans, { order }));
      const folder = await StoreFolder.open(t);
      let final = 0;
      for (let life = 0; final < blocks.length; life += 1) {
        const file = openFile(folder);
        const state = new MarketState(contracts, file);
        await folder.store.loadView(state);
        if (random.chance(0.5)) file.startSaving();
        assert.deepEqual(describeState(state), describeState(applied(blocks.slice(0, final))));
        const upTo = Math.min(blocks.length, final + random.integer(1, 15));
        for (const block of blocks.slice(final, upTo)) state.apply(toUnfinalizedDelta(block));
        const whole = describeState(state);
        const settled = random.integer(final, upTo);
        await fillStore(folder.store, {
          final: blocks.slice(final, settled),
          unfinalized: [],
          sizes: [random.integer(1, 5)],
        });
        final = settled;
        const last = blocks[final - 1];
        if (last !== undefined) state.finalize(last.number);
        if (random.chance(0.7)) state.save();
        assert.deepEqual(describeState(state), whole, "a save changes nothing");
        state.revert(last?.number ?? 0);
        assert.deepEqual(describeState(state), describeState(applied(blocks.slice(0, final))));
        file.close();
        assert(life < 200, "it comes to an end");
      }
    });
  }

  test("is used, not rebuilt, if it is older than the facts", async (t) => {
    const folder = await halfSaved(t);
    await withState(folder, (state, file) => {
      assert.equal(file.savedThrough, recorded[middle - 1]?.number);
      assert.deepEqual(describeState(state), describeState(applied(recorded)));
    });
  });

  test("is rebuilt if it is ahead of the facts", async (t) => {
    const folder = await halfSaved(t);
    await withState(folder, (state) => state.save());
    const [last] = recorded;
    assert(last !== undefined);
    const coverage = { fromBlock: last.number, last };
    const file = MarketsFile.open(folder.path, { contracts, coverage, repairs: 0, clock });
    assert.equal(file.savedThrough, null);
    file.close();
  });

  test("is rebuilt if the trusted creators have changed", async (t) => {
    const folder = await halfSaved(t);
    const nobody = { ...contracts, knownCreators: new Set<never>() };
    await withState(folder, (_, { savedThrough }) => assert.equal(savedThrough, null), nobody);
  });

  test("is rebuilt if it is damaged", async (t) => {
    const folder = await halfSaved(t);
    const path = join(folder.path, "markets.sqlite");
    for (const damage of [
      () => writeFile(path, "x".repeat(100_000)),
      () => truncate(path, 50_000),
    ]) {
      await withState(folder, (state) => state.save());
      await damage();
      await withState(folder, (state, { savedThrough }) => {
        assert.equal(savedThrough, null);
        assert.deepEqual(describeState(state), describeState(applied(recorded)));
      });
    }
  });

  test("checkpoints a large save on a thread, and loses nothing that is saved meanwhile", async (t) => {
    const folder = await halfSaved(t);
    const file = openFile(folder);
    const path = join(folder.path, "markets.sqlite");
    const before = (await stat(path)).size;
    const table = file.table<`0x${string}`, string>("numbers");
    const keys = Array.from(
      { length: 3000 },
      (_, i): `0x${string}` => `0x${i.toString(16).padStart(64, "0")}`,
    );
    for (const key of keys) table.set(key, key.repeat(20));
    const through = Number(file.savedThrough);
    file.save(through);
    assert(file.isCheckpointing);
    const [first = "0x", ...others] = keys;
    table.set(first, "meanwhile");
    file.save(through);
    await waitFor("the checkpoint", async () => (file.isCheckpointing ? null : true));
    assert((await stat(path)).size > before + 1_000_000);
    table.set(first, "lost");
    file.close();
    const again = openFile(folder);
    assert.equal(again.savedThrough, through);
    const kept = again.table<`0x${string}`, string>("numbers");
    assert.equal(kept.get(first), "meanwhile");
    for (const key of others) assert.equal(kept.get(key), key.repeat(20));
    again.close();
  });

  test("is due for a save soon after a start, then at intervals, and sooner after many changes", async (t) => {
    const folder = await halfSaved(t);
    let nowMs = 0;
    const file = MarketsFile.open(folder.path, {
      contracts,
      coverage: folder.store.coverage,
      repairs: 0,
      clock: { ...systemClock, monotonicMs: () => nowMs },
    });
    const table = file.table<`0x${string}`, number>("numbers");
    const putMany = (): void => {
      // `tableUnwrittenMax` values stay in memory, where they can change again.
      const values = storeLimits.marketsUnsavedMax + storeLimits.tableUnwrittenMax + 100;
      for (let i = 0; i < values; i += 1) table.set(`0x${i.toString(16).padStart(64, "0")}`, i);
    };
    const isDueAfter = (ms: number): boolean => {
      nowMs += ms;
      return file.isDue;
    };
    const { marketsSavedMs, marketsSavedMsMin } = storeLimits;
    assert(!isDueAfter(marketsSavedMs), "while it is loading");
    file.startSaving();
    assert(!isDueAfter(marketsSavedMsMin - 1));
    assert(isDueAfter(1));
    file.save(Number(file.savedThrough));
    assert(!isDueAfter(marketsSavedMs - 1));
    assert(isDueAfter(1));
    file.save(Number(file.savedThrough));
    putMany();
    assert(!isDueAfter(marketsSavedMsMin - 1));
    assert(isDueAfter(1));
    file.close();
  });

  test("keeps the venue's market metadata", async (t) => {
    const folder = await halfSaved(t);
    const metadata: VenueMetadata = {
      slug: "a-slug",
      category: "Sports",
      tags: ["Cup", "Final"],
      eventId: "7",
      eventSlug: "an-event",
      eventTitle: null,
      outcomeLabel: null,
      startMs: 1,
      endMs: 2,
      image: null,
      question: null,
      outcomes: null,
      description: null,
    };
    const [id] = listedMarkets(applied(recorded).directory);
    assert(id !== undefined);
    await withState(folder, (state) => {
      state.applyMetadata(id, metadata);
      state.save();
    });
    await withState(folder, ({ directory }) => {
      assert.deepEqual(directory.getMetadata(id), metadata);
      assert.deepEqual(directory.bySlug("a-slug"), [id]);
      assert.equal(directory.columns.endMs.get(directory.getOrdinal(id) ?? -1), 2);
    });
  });
});
