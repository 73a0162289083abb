/**
 * R9 with the real store: the same schedules as of the walk, through the pipeline into the engine
 * and the state in memory, with crashes in the middle of an append. The engine takes real time, while
 * which the simulated clock stands still.
 *
 * `SIMULATION_STORE_RUNS` says how many; with 1, `TEST_SEED=<seed>` plays one again.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openLog } from "../../src/base/log.ts";
import type { ChainSource } from "../../src/chain/chain-source.ts";
import { type ChainNews, deriveNews } from "../../src/chain-news.ts";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import { digestOf } from "../../src/market/digest.ts";
import { MarketState } from "../../src/market/market-state.ts";
import { Pipeline } from "../../src/pipeline.ts";
import { loadMarketState } from "../../src/store/load-market-state.ts";
import { readEvents } from "../../src/store/read-events.ts";
import { readFills } from "../../src/store/read-fills.ts";
import { appendPart } from "../support/append-part.ts";
import { describeState } from "../support/describe-state.ts";
import { encodeBatches } from "../support/encode-batches.ts";
import { testSeed } from "../support/property-settings.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import { encode, factsOf, fillsOf } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";
import { contracts, decoder, Simulation, type Subject } from "./simulation.ts";
import { ToldBlocks } from "./told-blocks.ts";

const runs = Number(process.env["SIMULATION_STORE_RUNS"] ?? 8);
/** Seeds that failed once, before there were limits: simulated time ran on while the engine was at work. */
const formerFailures = [20261124, 20261142];
const silent = openLog({ level: "silent" });

class StoreSubject implements Subject {
  readonly #folder: StoreFolder;
  readonly told = new ToldBlocks();
  state = new MarketState(contracts);
  /** Whether the pipeline, or a death and a new start, is in the middle of something. */
  #isAtWork = false;

  constructor(folder: StoreFolder) {
    this.#folder = folder;
  }

  get resumeAfter() {
    return this.#folder.store.coverage?.last ?? null;
  }

  /** Also while final blocks are appended behind the pipeline's back. */
  get isBusy(): boolean {
    return this.#isAtWork || this.#folder.store.engine.underWay > 0;
  }

  get newest() {
    // Between lives nothing is open.
    if (this.#isAtWork) return null;
    return this.#folder.store.tail.newest ?? this.resumeAfter;
  }

  get finalized(): number {
    return this.#isAtWork ? -1 : (this.resumeAfter?.number ?? -1);
  }

  async follow(source: ChainSource): Promise<void> {
    const pipeline = new Pipeline({ store: this.#folder.store, state: this.state, log: silent });
    await pipeline.run(
      this.#timed(deriveNews(encodeBatches(this.told.listen(source.batches()), decoder), decoder)),
    );
    this.#isAtWork = false;
  }

  /** Dies somewhere in an append of what it holds, then starts again as the service does. */
  async crash(random: SeededRandom): Promise<void> {
    this.#isAtWork = true;
    const { store } = this.#folder;
    const held = store.tail.blocks.slice(0, random.integer(0, 8));
    if (held.length > 0) await appendPart(store, encode(held), random.integer(0, 4));
    this.state = new MarketState(contracts);
    await loadMarketState(await this.#folder.reopen(), this.state);
    this.#isAtWork = false;
  }

  /** Simulated time stands still while the pipeline is at work on a piece of news. */
  async *#timed(news: AsyncIterable<ChainNews>): AsyncGenerator<ChainNews> {
    for await (const one of news) {
      this.#isAtWork = true;
      yield one;
      this.#isAtWork = false;
    }
    this.#isAtWork = true;
  }
}

function stateOf(blocks: readonly BlockFacts[]): MarketState {
  const state = new MarketState(contracts);
  for (const block of blocks) state.applyFinal(digestOf([block]), block);
  return state;
}

describe("R9: store and memory end as the chain", () => {
  const seeds = Array.from({ length: runs }, (_, index) => testSeed + index);
  for (const seed of new Set([...formerFailures, ...seeds])) {
    test(`seed ${seed}`, async (t) => {
      const folder = await StoreFolder.open(t);
      const subject = new StoreSubject(folder);
      const hasLimits = !formerFailures.includes(seed);
      const simulation = new Simulation(seed, subject, { hasLimits });
      const { world } = simulation;
      await simulation.run();

      const all = factsOf(subject.told.chainOf(world));
      const final = all.filter(({ number }) => number <= world.finalized);
      const { store } = folder;
      const page = { order: "asc", after: null, limit: 100_000 } as const;
      const wanted = { ...page, filter: {}, finalizedOnly: false };
      assert.deepEqual(await readFills(store, wanted), fillsOf(all));
      assert.deepEqual(await readFills(store, { ...wanted, finalizedOnly: true }), fillsOf(final));
      const events = all.flatMap((block) => block.events);
      const kinds = [...new Set(["trading_paused" as const, ...events.map((e) => e.event.kind)])];
      assert.deepEqual(await readEvents(store, { ...page, kinds, finalizedOnly: false }), events);
      assert.deepEqual(describeState(subject.state), describeState(stateOf(all)));

      const restarted = new MarketState(contracts);
      await loadMarketState(await folder.reopen(), restarted);
      assert.deepEqual(describeState(restarted), describeState(stateOf(final)));
    });
  }
});
