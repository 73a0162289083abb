/** The state in memory is a pure function of its blocks, whatever was reverted before. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { describeState } from "../../../test/support/describe-state.ts";
import {
  anyBlockPlan,
  anyChain,
  anyOrder,
  type BlockPlan,
  buildChain,
} from "../../../test/support/generate-chain.ts";
import { MemoryStateStore } from "../../../test/support/memory-state-store.ts";
import { propertySettings } from "../../../test/support/property-settings.ts";
import { knownContracts } from "../../../test/support/recorded-chain.ts";
import { getFacts, joined } from "../../../test/support/store-chain.ts";
import type { LogContent } from "../../../test/support/test-markets.ts";
import { zeroHash } from "../../base/ids.ts";
import type { Block } from "../../chain/raw-log.ts";
import { LogDecoder } from "../../contracts/log-decoder.ts";
import { type BlockFacts, deriveBlockFacts, emptyBlock } from "../../market/block-facts.ts";
import { toFinalDelta, toUnfinalizedDelta } from "../../market/delta.ts";
import { MarketState } from "./market-state.ts";

const contracts = knownContracts();
const decoder = new LogDecoder(contracts);

/** Describes a state that only ever saw these blocks, all of them final. */
function describeFinal(blocks: readonly BlockFacts[]): unknown {
  const state = new MarketState(contracts, new MemoryStateStore());
  for (const block of blocks) state.apply(toFinalDelta(block));
  return describeState(state);
}

type Step =
  | { readonly kind: "hold"; readonly plans: readonly BlockPlan[] }
  | { readonly kind: "settle"; readonly lag: number }
  | { readonly kind: "revert"; readonly depth: number };

const anyPlans = fc.array(anyBlockPlan(), { minLength: 1, maxLength: 4 });
const anySteps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant("hold" as const),
        plans: fc.array(anyBlockPlan(2), { maxLength: 3 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("settle" as const), lag: fc.nat(3) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("revert" as const), depth: fc.nat(5) }) },
  ),
  { maxLength: 12 },
);

/** Leads a state through blocks, reorgs and finality, and keeps the resulting chain. */
class Walk {
  readonly state = new MarketState(contracts, new MemoryStateStore());
  chain: Block[];
  #settled: number;
  #salt = 0;
  readonly #order: readonly LogContent[];

  constructor(final: readonly Block[], order: readonly LogContent[]) {
    this.chain = [...final];
    this.#settled = final.length;
    this.#order = order;
    for (const block of final) {
      this.state.apply(toFinalDelta(deriveBlockFacts(block, decoder)));
    }
  }

  take(step: Step): void {
    switch (step.kind) {
      case "hold": {
        const options = { after: this.chain.at(-1), salt: `${this.#salt}`, order: this.#order };
        for (const { block } of buildChain(step.plans, options)) {
          this.chain.push(block);
          this.state.apply(toUnfinalizedDelta(deriveBlockFacts(block, decoder)));
        }
        return;
      }
      case "settle": {
        this.#settled = Math.max(this.#settled, this.chain.length - step.lag);
        const last = this.chain[this.#settled - 1];
        if (last !== undefined) this.state.finalize(last.number);
        return;
      }
      case "revert": {
        this.#salt += 1;
        this.chain = this.chain.slice(0, Math.max(this.#settled, this.chain.length - step.depth));
        const newest = this.chain.at(-1);
        this.state.revert(newest?.number ?? 0);
      }
    }
  }
}

describe("the market state", () => {
  test("is the same as before after blocks are applied and reverted", () => {
    fc.assert(
      fc.property(anyChain({ blocksMin: 1, blocksMax: 10 }), fc.nat(10), (chain, cut) => {
        const blocks = getFacts(chain);
        const kept = blocks.slice(0, 1 + (cut % blocks.length));
        const last = kept.at(-1);
        assert(last !== undefined);
        const state = new MarketState(contracts, new MemoryStateStore());
        for (const block of kept) state.apply(toFinalDelta(block));
        const before = describeState(state);
        for (const block of blocks.slice(kept.length)) state.apply(toUnfinalizedDelta(block));
        state.revert(last.number);
        assert.deepEqual(describeState(state), before);
      }),
      propertySettings(150),
    );
  });

  test("equals the state of the resulting chain after any blocks, reorgs and finalizations", () => {
    fc.assert(
      fc.property(anyPlans, anyOrder, anySteps, (plans, order, steps) => {
        const final = buildChain(plans, { order }).map(({ block }) => block);
        const walk = new Walk(final, order);
        for (const step of steps) {
          walk.take(step);
          // A candle is kept up to date once it was requested.
          describeState(walk.state);
        }
        const left = walk.chain.map((block) => deriveBlockFacts(block, decoder));
        assert.deepEqual(describeState(walk.state), describeFinal(left));
      }),
      propertySettings(200),
    );
  });

  test("is the same however trades are split into blocks", () => {
    fc.assert(
      fc.property(anyChain({ blocksMin: 2, blocksMax: 6 }), (chain) => {
        const blocks = getFacts(chain).map((block) => ({ ...block, timestamp: 1_700_000_000 }));
        assert.deepEqual(describeFinal([joined(blocks)]), describeFinal(blocks));
      }),
      propertySettings(50),
    );
  });

  test("advances its time with blocks without facts", () => {
    const state = new MarketState(contracts, new MemoryStateStore());
    const last = { number: 7, hash: zeroHash, timestamp: 1_700_000_000 };
    state.apply(toFinalDelta({ ...emptyBlock, ...last }));
    assert.equal(state.dayWindow.now, 1_700_000_000);
  });
});
