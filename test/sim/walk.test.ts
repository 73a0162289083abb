/**
 * R9: whatever faults nodes have, and however often the process crashes, the facts equal those of the
 * canonical chain once the faults have ended. Only undetectably omitted logs (docs/completeness.md) can be missing.
 *
 * `TEST_SEED=<seed> SIMULATION_RUNS=1` repeats one schedule, and a larger number plays exactly that many. Without it,
 * as many are played as 20 seconds allow. A seed that found a bug is kept in the list below.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ChainSource } from "../../src/chain/sync/chain-source.ts";
import { getChanges } from "../support/encode-batches.ts";
import { testSeed } from "../support/property-settings.ts";
import { getFacts } from "../support/store-chain.ts";
import { AnnouncedBlocks } from "./announced-blocks.ts";
import { ModelStore } from "./model-store.ts";
import {
  decoder,
  Simulation,
  type SimulationOptions,
  type Subject,
  startBlock,
} from "./simulation.ts";

const requested = process.env["SIMULATION_RUNS"];
const runs = Number(requested ?? 2_000);
/** Without a given number, a slow machine plays fewer schedules and reports how many. */
const budgetMs = requested === undefined ? 10_000 : Number.POSITIVE_INFINITY;

/** Seeds that once found a bug: the bug, the seed, and whether nodes had limits at that time. */
const formerFailures: readonly (readonly [string, number, boolean])[] = [
  [
    "two endpoints that left out the same logs were taken as proof that there are none",
    20262104,
    false,
  ],
  [
    "a block was final by the word of one endpoint of three, confirmed by one without finality",
    20261420,
    true,
  ],
];

class ModelSubject implements Subject {
  readonly store = new ModelStore(startBlock);
  readonly reported = new AnnouncedBlocks();
  readonly isBusy = false;

  get resumeAfter() {
    return this.store.resumeAfter;
  }

  get newest() {
    return this.store.newest;
  }

  get finalized(): number {
    return this.store.finalized;
  }

  async follow(source: ChainSource, simulation: Simulation): Promise<void> {
    const { random } = simulation;
    // A slow store also changes the order of events.
    const slowness = random.pick([0, 0, 0.2]);
    const { resumeAfter } = this;
    const batches = this.reported.listen(source.batches({ resumeAfter, rangeEnds: [] }));
    for await (const change of getChanges(batches, decoder, this.reported.getProofs(source))) {
      this.store.take(change);
      if (random.chance(slowness)) await simulation.pause(random.integer(1, 1_500));
    }
  }

  async crash(): Promise<void> {
    this.store.crash();
  }
}

async function simulate(seed: number, faults: SimulationOptions): Promise<ModelSubject> {
  const subject = new ModelSubject();
  const simulation = new Simulation(seed, subject, faults);
  const { world } = simulation;
  try {
    await simulation.run();
    const facts = getFacts(subject.reported.getChain(world));
    const final = facts.filter(({ number }) => number <= world.finalized);
    subject.store.assertEquals(final, facts.slice(final.length));
  } catch (cause) {
    throw new Error(`seed ${seed}, ${simulation.describe()}`, { cause });
  }
  return subject;
}

describe("R9: the emitted facts end equal to the chain", () => {
  for (const [what, seed, hasLimits] of formerFailures)
    test(what, async () => void (await simulate(seed, { hasLimits })));

  test(`${runs} schedules from seed ${testSeed} on`, async (t) => {
    const startedMs = performance.now();
    const reported = { range: 0, block: 0, revert: 0, finalized: 0 };
    let run = 0;
    for (; run < runs && performance.now() - startedMs < budgetMs; run += 1) {
      const { counts } = (await simulate(testSeed + run, { hasLimits: true, hasWrongTimes: true }))
        .store;
      for (const kind of ["range", "block", "revert", "finalized"] as const)
        reported[kind] += counts[kind];
    }
    const seconds = (performance.now() - startedMs) / 1_000;
    const pace = `${run} of ${runs} in ${seconds.toFixed(1)} s, ${(run / seconds).toFixed(1)} a second`;
    t.diagnostic(`${pace}; changes: ${JSON.stringify(reported)}`);
    assert(
      run < 100 || Object.values(reported).every((count) => count > run / 2),
      "all kinds of changes",
    );
  });
});
