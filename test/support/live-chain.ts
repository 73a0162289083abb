/** A scripted node whose chain grows, reorganizes and becomes final while a test runs. */
import type { TestContext } from "node:test";
import * as fc from "fast-check";
import type { Block } from "../../src/chain/raw-log.ts";
import { cleanUp } from "./clean-up.ts";
import {
  anyBlockPlan,
  type BlockPlan,
  buildChain,
  type GeneratedBlock,
  numberBeforeChains,
} from "./generate-chain.ts";
import { testSeed } from "./property-settings.ts";
import { scriptBlocks } from "./script-blocks.ts";
import { ScriptedNode } from "./scripted-node.ts";
import type { SeededRandom } from "./seeded-random.ts";

const plans: readonly BlockPlan[] = fc
  .sample(anyBlockPlan(3), { seed: testSeed, numRuns: 300 })
  .map((plan) => ({ ...plan, secondsLater: 1 + (plan.secondsLater % 30) }));

export class LiveChain {
  readonly node: ScriptedNode;
  readonly #random: SeededRandom;
  #blocks: GeneratedBlock[];
  #finalized = numberBeforeChains + 1;
  #branches = 0;
  #isFinalityHeld = false;
  #timer: NodeJS.Timeout | null = null;

  private constructor(node: ScriptedNode, blocks: GeneratedBlock[], random: SeededRandom) {
    this.node = node;
    this.#blocks = blocks;
    this.#random = random;
  }

  /** Opens a chain that does not move until `goOn`; it closes after the test. */
  static async open(t: TestContext, random: SeededRandom): Promise<LiveChain> {
    const blocks = buildChain(plans.slice(0, 10));
    const node = await ScriptedNode.open({ blocks: scriptBlocks(blocks.map(toBlock)) });
    const chain = new LiveChain(node, blocks, random);
    node.setFinalized(chain.#finalized);
    cleanUp(t, async () => {
      chain.stop();
      await node.close();
    });
    return chain;
  }

  /** The canonical chain from its first block. */
  get blocks(): readonly GeneratedBlock[] {
    return this.#blocks;
  }

  get head(): number {
    return numberBeforeChains + this.#blocks.length;
  }

  get finalBlocks(): readonly GeneratedBlock[] {
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
    this.#branches += 1;
    const kept = this.#blocks.slice(0, number - numberBeforeChains);
    const picked = Array.from({ length: count }, () => this.#random.pick(plans));
    const options = { after: kept.at(-1)?.block, salt: `${this.#branches}.` };
    const added = buildChain(picked, options);
    this.#blocks = [...kept, ...added];
    this.node.fork(scriptBlocks(added.map(toBlock)));
  }
}

function toBlock({ block }: GeneratedBlock): Block {
  return block;
}
