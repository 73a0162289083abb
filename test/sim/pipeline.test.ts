/**
 * R9 with the real store: the schedules of the walk, through the pipeline into the engine and the
 * state in memory, with crashes in the middle of an append. The engine takes real time, and the
 * simulated clock stands still meanwhile.
 *
 * `SIMULATION_STORE_RUNS` sets the number of runs. With 1, `TEST_SEED=<seed>` repeats one run.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import { toFinalDelta } from "../../src/market/delta.ts";
import { readEvents } from "../../src/query/read-events.ts";
import { readFills } from "../../src/query/read-fills.ts";
import { MarketState } from "../../src/views/markets/market-state.ts";
import { describeState } from "../support/describe-state.ts";
import { MemoryStateStore } from "../support/memory-state-store.ts";
import { testSeed } from "../support/property-settings.ts";
import { getFacts, getFills } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";
import { contracts, Simulation } from "./simulation.ts";
import { StoreSubject } from "./store-subject.ts";

const runs = Number(process.env["SIMULATION_STORE_RUNS"] ?? 2);
/** Seeds that failed once, without limits: simulated time ran on while the engine was working. */
const formerFailures = [20261124, 20261142];

function getState(blocks: readonly BlockFacts[]): MarketState {
  const state = new MarketState(contracts, new MemoryStateStore());
  for (const block of blocks) state.apply(toFinalDelta(block));
  return state;
}

describe("R9: the store and the state end equal to the chain", () => {
  const seeds = Array.from({ length: runs }, (_, index) => testSeed + index);
  for (const seed of new Set([...formerFailures, ...seeds])) {
    test(`seed ${seed}`, async (t) => {
      const folder = await StoreFolder.open(t);
      const subject = new StoreSubject(folder);
      const hasLimits = !formerFailures.includes(seed);
      const simulation = new Simulation(seed, subject, { hasLimits });
      const { world } = simulation;
      await simulation.run();

      const all = getFacts(subject.reported.getChain(world));
      const final = all.filter(({ number }) => number <= world.finalized);
      const { store } = folder;
      const page = { order: "asc", after: null, limit: 100_000 } as const;
      const requested = { ...page, filter: {}, finalizedOnly: false };
      assert.deepEqual(await readFills(store, requested), getFills(all));
      assert.deepEqual(
        await readFills(store, { ...requested, finalizedOnly: true }),
        getFills(final),
      );
      const events = all.flatMap((block) => block.events);
      const kinds = [...new Set(["trading_paused" as const, ...events.map((e) => e.event.kind)])];
      assert.deepEqual(await readEvents(store, { ...page, kinds, finalizedOnly: false }), events);
      assert.deepEqual(describeState(subject.state), describeState(getState(all)));

      const restarted = new MarketState(contracts, new MemoryStateStore());
      await (await folder.reopen()).loadView(restarted);
      assert.deepEqual(describeState(restarted), describeState(getState(final)));
    });
  }
});
