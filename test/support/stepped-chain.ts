/** A chain that a source would emit, step by step, also to a process that starts later. */
import * as fc from "fast-check";
import type { ChainChange } from "../../src/feed/change.ts";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import {
  anyBlockPlan,
  type BlockPlan,
  buildChain,
  type GeneratedBlock,
  numberBeforeChains,
} from "./generate-chain.ts";
import { encode, getFacts, withLedger } from "./store-chain.ts";
import type { LogContent } from "./test-markets.ts";

export type Step =
  | { readonly kind: "range"; readonly plans: readonly BlockPlan[] }
  | { readonly kind: "block"; readonly plans: readonly BlockPlan[] }
  | { readonly kind: "revert"; readonly depth: number; readonly plans: readonly BlockPlan[] }
  | { readonly kind: "finalized"; readonly lag: number };

const anyPlans = fc.array(anyBlockPlan(2), { minLength: 1, maxLength: 4 });
export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("range" as const), plans: anyPlans }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("block" as const), plans: anyPlans }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("revert" as const),
      depth: fc.nat(6),
      plans: anyPlans,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("finalized" as const), lag: fc.nat(5) }) },
);

function toFacts(chain: readonly GeneratedBlock[]): BlockFacts[] {
  return withLedger(getFacts(chain));
}

/** The blocks of the chain, and which of them are final. */
export class SteppedChain {
  #blocks: GeneratedBlock[] = [];
  #finalCount = 0;
  #salt = 0;
  readonly #order: readonly LogContent[];

  constructor(order: readonly LogContent[]) {
    this.#order = order;
  }

  get newest(): number {
    return this.#blocks.at(-1)?.block.number ?? numberBeforeChains;
  }

  take(step: Step): ChainChange[] {
    switch (step.kind) {
      case "range": {
        const settled = this.#settle(this.#blocks.length);
        const added = this.#grow(step.plans);
        this.#finalCount = this.#blocks.length;
        return [...settled, { kind: "range", batch: encode(toFacts(added)), more: false }];
      }
      case "block":
        return toFacts(this.#grow(step.plans)).map((block) => ({ kind: "block", block }));
      case "revert": {
        const kept = Math.max(this.#finalCount, this.#blocks.length - step.depth);
        this.#blocks = this.#blocks.slice(0, kept);
        this.#salt += 1;
        const safeBlock = this.newest;
        const unfinalized = toFacts(this.#grow(step.plans));
        return [
          { kind: "revert", safeBlock },
          ...unfinalized.map((block) => ({ kind: "block", block }) as const),
        ];
      }
      case "finalized":
        return this.#settle(this.#blocks.length - step.lag);
    }
  }

  /**
   * The changes for a process that has stored the blocks up to `stored`. Its open claims end at `ends`, so final blocks
   * come in ranges that end there.
   */
  resumeAfter(stored: number, ends: readonly number[]): ChainChange[] {
    const final = this.#blocks.slice(0, this.#finalCount);
    const missing = final.filter(({ block }) => block.number > stored);
    const unfinalized = toFacts(this.#blocks.slice(this.#finalCount));
    // Blocks are grouped by how many claims end before them.
    const ranges = Map.groupBy(
      missing,
      ({ block }) => ends.filter((end) => end < block.number).length,
    );
    return [
      ...[...ranges.values()].map(
        (range) => ({ kind: "range", batch: encode(toFacts(range)), more: false }) as const,
      ),
      ...unfinalized.map((block) => ({ kind: "block", block }) as const),
    ];
  }

  #settle(count: number): ChainChange[] {
    const block = this.#blocks[count - 1]?.block.number;
    if (count <= this.#finalCount || block === undefined) return [];
    this.#finalCount = count;
    return [{ kind: "finalized", block }];
  }

  #grow(plans: readonly BlockPlan[]): GeneratedBlock[] {
    const after = this.#blocks.at(-1)?.block;
    const added = buildChain(plans, { after, salt: `${this.#salt}`, order: this.#order });
    this.#blocks = [...this.#blocks, ...added];
    return added;
  }
}
