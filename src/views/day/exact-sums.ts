import { grown } from "../disk/grown.ts";
import type { Amount } from "./trade-queue.ts";

const safeMax = Number.MAX_SAFE_INTEGER;

/** Sums of integers by index, exact however large; those below 2^53 as plain numbers. */
export class ExactSums {
  #sums = new Float64Array(0);
  /** Those that are, or were, no safe integers. */
  readonly #large = new Map<number, bigint>();

  get(index: number): bigint {
    return this.#large.get(index) ?? BigInt(this.#sums[index] ?? 0);
  }

  add(index: number, amount: Amount): void {
    if (index >= this.#sums.length) this.#sums = grown(this.#sums, index + 1);
    if (typeof amount === "number" && this.#large.size === 0) {
      const sum = (this.#sums[index] ?? 0) + amount;
      if (sum <= safeMax && sum >= -safeMax) {
        this.#sums[index] = sum;
        return;
      }
    }
    this.#addLarge(index, BigInt(amount));
  }

  /** Adds amounts in order, each at its index; where one is `NaN`, the one that `exactAt` reports. */
  addAll(indexes: Int32Array, amounts: Float64Array, exactAt: (i: number) => Amount): void {
    for (let i = 0; i < indexes.length; i += 1) {
      const index = indexes[i] ?? 0;
      const amount = amounts[i] ?? 0;
      const sum = (this.#sums[index] ?? Number.NaN) + amount;
      // `NaN` is neither.
      if (sum <= safeMax && sum >= -safeMax && this.#large.size === 0) this.#sums[index] = sum;
      else this.add(index, Number.isNaN(amount) ? exactAt(i) : amount);
    }
  }

  /** Makes a sum 0. */
  clear(index: number): void {
    this.#sums[index] = 0;
    this.#large.delete(index);
  }

  #addLarge(index: number, amount: bigint): void {
    const sum = this.get(index) + amount;
    const isSafe = sum <= BigInt(safeMax) && sum >= -BigInt(safeMax);
    this.#sums[index] = isSafe ? Number(sum) : 0;
    if (isSafe) this.#large.delete(index);
    else this.#large.set(index, sum);
  }
}
