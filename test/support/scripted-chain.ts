import assert from "node:assert/strict";
import type { ScriptedBlock } from "./scripted-block.ts";

/**
 * The meaning of the tag `finalized`: a fixed block (stuck, or set by hand, also backwards), a distance behind the
 * head, or `null` for a node that does not support the tag.
 */
export type Finality = number | { readonly behindHead: number } | null;

/** The chain as a node sees it. A lagging node sees the same chain with a lower head. */
export type ChainView = {
  readonly firstNumber: number;
  readonly head: number;
  readonly finalized: number | null;
  /** Whether a range beyond the head returns the existing blocks, as with older clients. */
  readonly isLenient: boolean;
  /** Returns `null` above the head. */
  blockAt(number: number): ScriptedBlock | null;
  /** Also finds blocks that a reorg has replaced, as real nodes do. */
  blockWithHash(hash: string): ScriptedBlock | null;
};

/** A chain that shows only the blocks up to its head, and whose top can be replaced. */
export class ScriptedChain implements ChainView {
  readonly #blocks: ScriptedBlock[] = [];
  readonly #byHash = new Map<string, ScriptedBlock>();
  #head = -1;
  #finality: Finality = { behindHead: 0 };
  readonly isLenient = false;

  /** `blocks` must be linked. The last one becomes the head. */
  constructor(blocks: readonly ScriptedBlock[]) {
    assert(blocks.length > 0, "a chain needs a block");
    this.#append(blocks);
  }

  get firstNumber(): number {
    return this.#blocks[0]?.number ?? 0;
  }

  get head(): number {
    return this.#head;
  }

  get finalized(): number | null {
    if (this.#finality === null || typeof this.#finality === "number") return this.#finality;
    return Math.max(this.firstNumber, this.#head - this.#finality.behindHead);
  }

  blockAt(number: number): ScriptedBlock | null {
    return number > this.#head ? null : (this.#blocks[number - this.firstNumber] ?? null);
  }

  blockWithHash(hash: string): ScriptedBlock | null {
    const block = this.#byHash.get(hash);
    if (block === undefined) return null;
    const isHidden = block.number > this.#head && this.#blockBeyondHead(block.number) === block;
    return isHidden ? null : block;
  }

  /** Shows the chain up to `number`, which can be lower than before. */
  setHead(number: number): void {
    assert(this.#blockBeyondHead(number) !== undefined, `there is no block ${number}`);
    this.#head = number;
  }

  setFinalized(finality: Finality): void {
    this.#finality = finality;
  }

  /** Replaces every block from `blocks[0].number` on. The last of `blocks` becomes the head. */
  fork(blocks: readonly ScriptedBlock[]): void {
    const first = blocks[0];
    assert(first !== undefined && first.number > this.firstNumber, "a fork needs a common block");
    this.#blocks.length = first.number - this.firstNumber;
    this.#append(blocks);
  }

  #append(blocks: readonly ScriptedBlock[]): void {
    for (const block of blocks) {
      const parent = this.#blocks.at(-1);
      assert(parent === undefined || parent.hash === block.parentHash, `${block.number} is loose`);
      this.#blocks.push(block);
      this.#byHash.set(block.hash, block);
      this.#head = block.number;
    }
  }

  #blockBeyondHead(number: number): ScriptedBlock | undefined {
    return this.#blocks[number - this.firstNumber];
  }
}

/** The chain as seen by a node that is silently `blocks` blocks behind. */
export function viewBehind(chain: ChainView, blocks: number): ChainView {
  const head = Math.max(chain.firstNumber, chain.head - blocks);
  const upToHead = (block: ScriptedBlock | null) =>
    block === null || block.number > head ? null : block;
  return {
    firstNumber: chain.firstNumber,
    head,
    finalized: chain.finalized === null ? null : Math.min(chain.finalized, head),
    isLenient: true,
    blockAt: (number) => upToHead(chain.blockAt(number)),
    blockWithHash: (hash) => upToHead(chain.blockWithHash(hash)),
  };
}
