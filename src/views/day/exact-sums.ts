import type { Column } from "../disk/column.ts";
import type { Amount } from "./trade-queue.ts";

/** Exact sums of integers of any size, by index. The column has sums from 2^53 on only rounded. */
export class ExactSums {
  readonly #sums: Column<"f64">;
  /** The sums that are not safe integers. */
  readonly #large = new Map<number, bigint>();

  constructor(sums: Column<"f64">) {
    this.#sums = sums;
  }

  /** Whether the column has all sums exactly. */
  get areSafe(): boolean {
    return this.#large.size === 0;
  }

  get(index: number): bigint {
    return this.#large.get(index) ?? BigInt(this.#sums.get(index));
  }

  add(index: number, amount: Amount): void {
    if (typeof amount === "number" && this.#large.size === 0) {
      const sum = this.#sums.get(index) + amount;
      if (Number.isSafeInteger(sum)) {
        this.#sums.set(index, sum);
        return;
      }
    }
    const sum = this.get(index) + BigInt(amount);
    this.#sums.set(index, Number(sum));
    if (Number.isSafeInteger(Number(sum))) this.#large.delete(index);
    else this.#large.set(index, sum);
  }

  clear(index: number): void {
    this.#sums.set(index, 0);
    this.#large.delete(index);
  }
}
