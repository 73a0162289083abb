/**
 * Everything after the chain source: whatever the source emits, the store and the state end as if only the
 * blocks of the resulting chain had ever existed.
 */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { type Hash, toFirstSeq } from "../../src/base/ids.ts";
import { openLog } from "../../src/base/log.ts";
import type { Block, ChainBatch } from "../../src/chain/raw-log.ts";
import { LogDecoder } from "../../src/contracts/log-decoder.ts";
import type { Change } from "../../src/feed/change.ts";
import { Pipeline } from "../../src/feed/pipeline.ts";
import { type BlockFacts, deriveBlockFacts } from "../../src/market/block-facts.ts";
import { type Delta, toFinalDelta } from "../../src/market/delta.ts";
import { readEvents } from "../../src/query/read-events.ts";
import { readFills } from "../../src/query/read-fills.ts";
import { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { MarketState } from "../../src/views/markets/market-state.ts";
import { appendFacts } from "../support/append-facts.ts";
import { describeState } from "../support/describe-state.ts";
import { getChanges } from "../support/encode-batches.ts";
import {
  anyBlockPlan,
  anyOrder,
  type BlockPlan,
  buildChain,
  numberBeforeChains,
} from "../support/generate-chain.ts";
import { MemoryStateStore } from "../support/memory-state-store.ts";
import { testSeed } from "../support/property-settings.ts";
import { knownContracts } from "../support/recorded-chain.ts";
import { encode, getBatches, getFills } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";
import type { LogContent } from "../support/test-markets.ts";

const contracts = knownContracts();
const decoder = new LogDecoder(contracts);
const silent = openLog({ level: "silent" });

type Step =
  | { readonly kind: "final"; readonly plans: readonly BlockPlan[]; readonly sizes: number[] }
  | { readonly kind: "block"; readonly plans: readonly BlockPlan[] }
  | { readonly kind: "revert"; readonly depth: number }
  | { readonly kind: "finalized"; readonly lag: number };

const anyPlans = fc.array(anyBlockPlan(2), { minLength: 1, maxLength: 8 });
const anySteps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("final" as const),
        plans: anyPlans,
        sizes: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 3 }),
      }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("block" as const), plans: anyPlans }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("revert" as const), depth: fc.nat(6) }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant("finalized" as const), lag: fc.nat(5) }),
    },
  ),
  { minLength: 10, maxLength: 25 },
);

/** A chain source that emits the steps, and the resulting chain. */
class ScriptedSource {
  chain: Block[] = [];
  finalCount = 0;
  forks = 0;
  readonly #steps: readonly Step[];
  readonly #order: readonly LogContent[];

  constructor(steps: readonly Step[], order: readonly LogContent[]) {
    this.#steps = steps;
    this.#order = order;
  }

  async *batches(): AsyncGenerator<ChainBatch> {
    for (const step of this.#steps) yield* this.#take(step);
  }

  *#take(step: Step): Generator<ChainBatch> {
    switch (step.kind) {
      case "final": {
        // A source backfills only when it has no unfinalized blocks.
        yield* this.#finalize(this.chain.length);
        for (const batch of getBatches(this.#grow(step.plans), step.sizes)) {
          this.chain.push(...batch);
          this.finalCount = this.chain.length;
          yield getRange(batch);
        }
        return;
      }
      case "block": {
        for (const block of this.#grow(step.plans)) {
          this.chain.push(block);
          yield { kind: "block", block };
        }
        return;
      }
      case "revert": {
        this.forks += 1;
        const kept = Math.max(this.finalCount, this.chain.length - step.depth);
        this.chain = this.chain.slice(0, kept);
        yield { kind: "revert", safeBlock: this.chain.at(-1)?.number ?? numberBeforeChains };
        return;
      }
      case "finalized":
        yield* this.#finalize(this.chain.length - step.lag);
    }
  }

  *#finalize(count: number): Generator<ChainBatch> {
    const block = this.chain[count - 1];
    if (count <= this.finalCount || block === undefined) return;
    this.finalCount = count;
    yield { kind: "finalized", block: block.number };
  }

  #grow(plans: readonly BlockPlan[]): Block[] {
    const options = { after: this.chain.at(-1), salt: `${this.forks}`, order: this.#order };
    return buildChain(plans, options).map(({ block }) => block);
  }
}

const emptyBlock: Block = {
  number: 0,
  hash: `0x${"e0".repeat(32)}` as Hash,
  parentHash: null,
  timestamp: 0,
  logs: [],
};

/** A range as a source emits it: only blocks with logs, and the number, hash and time of the last block. */
function getRange(blocks: readonly Block[]): ChainBatch {
  const [first, last] = [blocks[0], blocks.at(-1)];
  assert(first !== undefined && last !== undefined);
  const { number, hash, timestamp } = last;
  return {
    kind: "range",
    fromBlock: first.number,
    blocks: blocks.filter((block) => block.logs.length > 0),
    last: { number, hash, timestamp },
    more: false,
  };
}

function getFacts(chain: readonly Block[]): BlockFacts[] {
  return chain.map((block) => deriveBlockFacts(block, decoder));
}

function getState(blocks: readonly BlockFacts[]): MarketState {
  const state = new MarketState(contracts, new MemoryStateStore());
  for (const block of blocks) state.apply(toFinalDelta(block));
  return state;
}

/** A client that has seen these blocks must not resume behind them. */
function assertReplaced({ reorgs }: IndexedFacts, blocks: readonly BlockFacts[]): void {
  for (const { number } of blocks) {
    const first = toFirstSeq(number);
    assert(reorgs.certainPosition(first) < first, `block ${number} was served`);
  }
}

describe("the pipeline", () => {
  const runs = fc.sample(fc.tuple(anySteps, anyOrder), { seed: testSeed, numRuns: 6 });
  for (const [index, [steps, order]] of runs.entries()) {
    test(`ends with the facts and state of the resulting chain, run ${index}`, async (t) => {
      const folder = await StoreFolder.open(t);
      const { store } = folder;
      const state = new MarketState(contracts, new MemoryStateStore());
      const source = new ScriptedSource(steps, order);
      const served: BlockFacts[] = [];
      const subscribers = {
        unfinalized: (block: BlockFacts) => void served.push(block),
        reverting: () => {},
        appended: () => {},
        finalized: () => {},
      };
      await new Pipeline({ facts: store, state, subscribers, log: silent }).run(
        getChanges(source.batches(), decoder),
      );

      const left = getFacts(source.chain);
      const final = left.slice(0, source.finalCount);
      assert.deepEqual(describeState(state), describeState(getState(left)));
      const page = { order: "asc", after: null, limit: 100_000 } as const;
      const all = { ...page, filter: {}, finalizedOnly: false };
      assert.deepEqual(await readFills(store, all), getFills(left));
      assert.deepEqual(await readFills(store, { ...all, finalizedOnly: true }), getFills(final));
      const events = left.flatMap((block) => block.events);
      const kinds = [...new Set(["trading_paused" as const, ...events.map((e) => e.event.kind)])];
      assert.deepEqual(await readEvents(store, { ...page, kinds, finalizedOnly: false }), events);
      assert.equal(store.coverage?.last.number, final.at(-1)?.number);

      const hashes = new Set(left.map(({ hash }) => hash));
      assertReplaced(
        store,
        served.filter(({ hash }) => !hashes.has(hash)),
      );

      const restarted = new MarketState(contracts, new MemoryStateStore());
      const reopened = await folder.reopen();
      await reopened.loadView(restarted);
      const finalBlock = final.at(-1)?.number ?? numberBeforeChains;
      assertReplaced(
        reopened,
        served.filter(({ number }) => number > finalBlock),
      );
      assert.deepEqual(describeState(restarted), describeState(getState(final)));
    });
  }

  test("publishes a block while earlier blocks are still being stored", async (t) => {
    const { store } = await StoreFolder.open(t);
    const reported: string[] = [];
    const subscribers = {
      unfinalized: ({ number }: BlockFacts) => reported.push(`held ${number}`),
      reverting: (safeBlock: number) => reported.push(`back to ${safeBlock}`),
      appended: () => reported.push("appended"),
      finalized: (blocks: readonly BlockFacts[]) =>
        reported.push(`final ${blocks.map(({ number }) => number).join(" ")}`),
    };
    async function* source(): AsyncGenerator<ChainBatch> {
      const unfinalized = (number: number) =>
        ({ kind: "block", block: { ...emptyBlock, number, timestamp: number } }) as const;
      for (const number of [1, 2]) yield unfinalized(number);
      yield { kind: "finalized", block: 1 };
      yield unfinalized(3);
      yield { kind: "finalized", block: 2 };
      yield { kind: "revert", safeBlock: 2 };
      yield unfinalized(3);
      yield { kind: "finalized", block: 3 };
    }
    const state = new MarketState(contracts, new MemoryStateStore());
    const pipeline = new Pipeline({ facts: store, state, subscribers, log: silent });
    await pipeline.run(getChanges(source(), decoder));
    const beside = ["held 3", "back to 2", "held 3"];
    assert.deepEqual(reported, ["held 1", "held 2", ...beside, "final 1", "final 2", "final 3"]);
    assert.equal(store.coverage?.last.number, 3);
  });

  test("reverts its blocks when another process has committed different ones", async (t) => {
    const { store } = await StoreFolder.open(t);
    const { writer } = store;
    assert(writer !== null);
    const { hash: _, ...fields } = emptyBlock;
    const factsWith = (salt: string) =>
      getFacts(
        [1, 2].map((number) => ({ ...fields, number, hash: `0x${salt.repeat(32)}` as Hash })),
      );
    const [committed, own] = [factsWith("c0"), factsWith("e0")];
    const reader = await IndexedFacts.load(store.store);
    const reported: string[] = [];
    const subscribers = {
      unfinalized: ({ number }: BlockFacts) => reported.push(`block ${number}`),
      reverting: (safeBlock: number) => reported.push(`back to ${safeBlock}`),
      appended: ({ last }: Delta) => reported.push(`appended ${last.hash}`),
      finalized: () => reported.push("final"),
    };
    const state = new MarketState(contracts, new MemoryStateStore());
    const batch = encode(committed);
    const commit = async () => appendFacts(writer, batch);
    async function* changes(): AsyncGenerator<Change> {
      for (const block of own) yield { kind: "block", block };
      await commit();
      yield { kind: "committed", range: batch };
    }
    await new Pipeline({ facts: reader, state, subscribers, log: silent }).run(changes());
    const [newest] = committed.slice(-1);
    assert.deepEqual(reported, ["block 1", "block 2", "back to 0", `appended ${newest?.hash}`]);
    assert.equal(reader.headBuffer.newest, null);
  });

  test("stops when the store fails, even if the source never ends", async (t) => {
    const folder = await StoreFolder.open(t);
    const { store } = folder;
    await folder.close();
    const state = new MarketState(contracts, new MemoryStateStore());
    const pipeline = new Pipeline({ facts: store, state, log: silent });
    async function* endless(): AsyncGenerator<ChainBatch> {
      for (let number = 1; ; number += 1) {
        yield getRange([{ ...emptyBlock, number, timestamp: number }]);
      }
    }
    await assert.rejects(pipeline.run(getChanges(endless(), decoder)));
    assert.equal(state.dayWindow.now, 0, "nothing was applied that is not stored");
  });

  test("stops when the store fails, even if no more changes come", async (t) => {
    const folder = await StoreFolder.open(t);
    const { store } = folder;
    const state = new MarketState(contracts, new MemoryStateStore());
    async function* standing(): AsyncGenerator<ChainBatch> {
      yield { kind: "block", block: { ...emptyBlock, number: 1, timestamp: 1 } };
      await folder.close();
      yield { kind: "finalized", block: 1 };
      await new Promise<never>(() => {});
    }
    const pipeline = new Pipeline({ facts: store, state, log: silent });
    await assert.rejects(pipeline.run(getChanges(standing(), decoder)));
  });
});
