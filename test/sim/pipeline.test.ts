/**
 * R9 with the real store: the same schedules as of the walk, through the pipeline into the engine
 * and the state in memory, with crashes in the middle of an append.
 *
 * On demand: `SIMULATION_STORE_RUNS=8`. The engine takes real time, which the simulated clock cannot
 * see, so on a busy machine a schedule may fail to come to rest without anything being wrong.
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
import { testSeed } from "../support/property-settings.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import { encode, factsOf, fillsOf } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";
import { contracts, decoder, Simulation, type Subject } from "./simulation.ts";

const runs = Number(process.env["SIMULATION_STORE_RUNS"] ?? 0);
const silent = openLog({ level: "silent" });

class StoreSubject implements Subject {
  readonly #folder: StoreFolder;
  state = new MarketState(contracts);
  isBusy = false;

  constructor(folder: StoreFolder) {
    this.#folder = folder;
  }

  get resumeAfter() {
    return this.#folder.store.coverage?.last ?? null;
  }

  get newest() {
    // Between lives nothing is open.
    if (this.isBusy) return null;
    return this.#folder.store.tail.newest ?? this.resumeAfter;
  }

  get finalized(): number {
    return this.isBusy ? -1 : (this.resumeAfter?.number ?? -1);
  }

  async follow(source: ChainSource): Promise<void> {
    const pipeline = new Pipeline({ store: this.#folder.store, state: this.state, log: silent });
    await pipeline.run(this.#timed(deriveNews(source.batches(), decoder)));
    this.isBusy = false;
  }

  /** Dies somewhere in an append of what it holds, then starts again as the service does. */
  async crash(random: SeededRandom): Promise<void> {
    this.isBusy = true;
    const { store } = this.#folder;
    const held = store.tail.blocks.slice(0, random.integer(0, 8));
    if (held.length > 0) await appendPart(store, encode(held), random.integer(0, 4));
    this.state = new MarketState(contracts);
    await loadMarketState(await this.#folder.reopen(), this.state);
    this.isBusy = false;
  }

  /** Simulated time stands still while the pipeline is at work on a piece of news. */
  async *#timed(news: AsyncIterable<ChainNews>): AsyncGenerator<ChainNews> {
    for await (const one of news) {
      this.isBusy = true;
      yield one;
      this.isBusy = false;
    }
    this.isBusy = true;
  }
}

function stateOf(blocks: readonly BlockFacts[]): MarketState {
  const state = new MarketState(contracts);
  for (const block of blocks) state.applyFinal(digestOf([block]), block);
  return state;
}

describe("R9: store and memory end as the chain", () => {
  if (runs === 0) test("random schedules", { skip: "set SIMULATION_STORE_RUNS to play them" });
  for (let seed = testSeed; seed < testSeed + runs; seed += 1) {
    test(`seed ${seed}`, async (t) => {
      const folder = await StoreFolder.open(t);
      const subject = new StoreSubject(folder);
      const simulation = new Simulation(seed, subject);
      const { world } = simulation;
      await simulation.run();

      const all = factsOf(world.blocks.map((block) => ({ block, fills: [] })));
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
