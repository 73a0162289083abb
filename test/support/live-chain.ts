/** A scripted node whose chain grows, reorganizes and becomes final while a test runs. */
import type { TestContext } from "node:test";
import * as fc from "fast-check";
import type { Block } from "../../src/chain/raw-log.ts";
import { cleanUp } from "./clean-up.ts";
import { anyBlockPlan, type BlockPlan, buildChain, numberBeforeChains } from "./generate-chain.ts";
import { testSeed } from "./property-settings.ts";
import { scriptBlocks } from "./script-blocks.ts";
import { ScriptedNode } from "./scripted-node.ts";
import type { SeededRandom } from "./seeded-random.ts";

const plans: readonly BlockPlan[] = fc
  .sample(anyBlockPlan(3), { seed: testSeed, numRuns: 300 })
  .map((plan) => ({ ...plan, secondsLater: 1 + (plan.secondsLater % 30) }));

type LiveBlock = { readonly block: Block };
/** Makes blocks that follow others. After fewer than it has made, those that it makes are others. */
export type MakeBlocks = (kept: readonly LiveBlock[], count: number) => readonly LiveBlock[];

export class LiveChain {
  readonly node: ScriptedNode;
  readonly #random: SeededRandom;
  readonly #make: MakeBlocks;
  #blocks: LiveBlock[];
  #finalized = numberBeforeChains + 1;
  #isFinalityHeld = false;
  #timer: NodeJS.Timeout | null = null;

  private constructor(
    node: ScriptedNode,
    { blocks, ...made }: { blocks: LiveBlock[]; make: MakeBlocks; random: SeededRandom },
  ) {
    this.node = node;
    this.#blocks = blocks;
    this.#make = made.make;
    this.#random = made.random;
  }

  /** Opens a chain that does not move until `goOn`; it closes after the test. By default its blocks have trades. */
  static async open(
    t: TestContext,
    random: SeededRandom,
    make: MakeBlocks = makeGenerated(random),
  ): Promise<LiveChain> {
    const blocks = [...make([], 10)];
    const node = await ScriptedNode.open({ blocks: scriptBlocks(blocks.map(toBlock)) });
    const chain = new LiveChain(node, { blocks, make, random });
    node.setFinalized(chain.#finalized);
    cleanUp(t, async () => {
      chain.stop();
      await node.close();
    });
    return chain;
  }

  /** The canonical chain from its first block. */
  get blocks(): readonly LiveBlock[] {
    return this.#blocks;
  }

  get head(): number {
    return numberBeforeChains + this.#blocks.length;
  }

  get finalBlocks(): readonly LiveBlock[] {
    return this.#blocks.slice(0, this.#finalized - numberBeforeChains);
  }

  /** The number of unfinalized blocks. */
  get unfinalized(): number {
    return this.head - this.#finalized;
  }

  /** From now on blocks become final only on request. */
  holdFinality(): void {
    this.#isFinalityHeld = true;
  }

  releaseFinality(): void {
    this.#isFinalityHeld = false;
  }

  /** Adds some blocks every `everyMs`, with reorgs and new final blocks. */
  goOn(everyMs: number): void {
    this.stop();
    this.#timer = setInterval(() => this.#step(), everyMs);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Adds `count` blocks at the same time. */
  grow(count: number): void {
    this.#replaceAbove(this.head, count);
  }

  /** Replaces up to `depth` unfinalized blocks by a branch that is one block longer. */
  fork(depth: number): void {
    const kept = Math.max(this.#finalized, this.head - depth);
    this.#replaceAbove(kept, this.head - kept + 1);
  }

  /** Finalizes all but the last `blocks` blocks. */
  finalizeBut(blocks: number): void {
    this.#finalized = Math.max(this.#finalized, this.head - blocks);
    this.node.setFinalized(this.#finalized);
  }

  /** Finalizes all blocks. */
  settle(): void {
    this.finalizeBut(0);
  }

  #step(): void {
    const random = this.#random;
    if (random.chance(0.2)) {
      const kept = random.integer(Math.max(this.#finalized, this.head - 12), this.head);
      this.#replaceAbove(kept, this.head - kept + 1);
    } else this.grow(random.integer(1, 2));
    if (random.chance(0.5) && !this.#isFinalityHeld) this.finalizeBut(random.integer(0, 15));
  }

  #replaceAbove(number: number, count: number): void {
    const kept = this.#blocks.slice(0, number - numberBeforeChains);
    const added = this.#make(kept, count);
    this.#blocks = [...kept, ...added];
    this.node.fork(scriptBlocks(added.map(toBlock)));
  }
}

function makeGenerated(random: SeededRandom): MakeBlocks {
  let branches = 0;
  return (kept, count) => {
    if (kept.length === 0) return buildChain(plans.slice(0, count));
    branches += 1;
    const picked = Array.from({ length: count }, () => random.pick(plans));
    return buildChain(picked, { after: kept.at(-1)?.block, salt: `${branches}.` });
  };
}

function toBlock({ block }: LiveBlock): Block {
  return block;
}
