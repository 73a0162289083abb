import { assert } from "../../base/assert.ts";
import type { Hash } from "../../base/ids.ts";
import { type TimedBlock, toTimedBlock } from "../raw-log.ts";

/** The unfinalized blocks of the consumer. They follow `base`, the last final block; `null` when it is not known. */
export class UnfinalizedChain {
  #base: TimedBlock | null = null;
  #blocks: TimedBlock[] = [];
  #nextNumber = 0;

  get base(): TimedBlock | null {
    return this.#base;
  }

  get tip(): TimedBlock | null {
    return this.#blocks.at(-1) ?? this.#base;
  }

  get nextNumber(): number {
    return this.#nextNumber;
  }

  /** The lowest unfinalized block; the next block when there is none. */
  get firstNumber(): number {
    return this.#nextNumber - this.#blocks.length;
  }

  get length(): number {
    return this.#blocks.length;
  }

  /** The hash that the consumer has for a block from `base` up; `null` for any other block. */
  hashAt(number: number): Hash | null {
    if (number === this.#base?.number) return this.#base.hash;
    return this.#blocks[number - this.firstNumber]?.hash ?? null;
  }

  push(block: TimedBlock): void {
    assert(block.number === this.#nextNumber, "unfinalized blocks have no gaps");
    this.#blocks.push(toTimedBlock(block));
    this.#nextNumber += 1;
  }

  /** Reverts every block above `number`, which must not be below the base. */
  revertTo(number: number): void {
    const kept = number - this.firstNumber + 1;
    assert(kept >= 0, "finalized blocks are never reverted");
    this.#blocks.length = Math.min(this.#blocks.length, kept);
    this.#nextNumber = number + 1;
  }

  /** Makes the unfinalized block `number`, and all blocks below it, final. */
  finalizeTo(number: number): void {
    const count = number - this.firstNumber + 1;
    const base = this.#blocks[count - 1];
    assert(base !== undefined, "only unfinalized blocks become final");
    this.#base = base;
    this.#blocks = this.#blocks.slice(count);
  }

  /** Continues with `nextNumber`, above `base`, which was handed out as final. */
  restart(nextNumber: number, base: TimedBlock | null): void {
    assert(this.#blocks.length === 0, "unfinalized blocks stand on their own base");
    this.#base = base;
    this.#nextNumber = nextNumber;
  }
}
