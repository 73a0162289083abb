import type { Amount } from "./trade-queue.ts";

/** Sums of integers by index, exact however large; those below 2^53 as plain numbers. */
export class ExactSums {
  readonly #sums: number[] = [];
  /** Those that are not safe integers. */
  readonly #large = new Map<number, bigint>();

  get(index: number): bigint {
    return this.#large.get(index) ?? BigInt(this.#sums[index] ?? 0);
  }

  add(index: number, amount: Amount): void {
    if (typeof amount === "number" && this.#large.size === 0) {
      const sum = (this.#sums[index] ?? 0) + amount;
      if (Number.isSafeInteger(sum)) {
        this.#sums[index] = sum;
        return;
      }
    }
    const sum = this.get(index) + BigInt(amount);
    const isSafe = Number.isSafeInteger(Number(sum));
    this.#sums[index] = isSafe ? Number(sum) : 0;
    if (isSafe) this.#large.delete(index);
    else this.#large.set(index, sum);
  }

  clear(index: number): void {
    this.#sums[index] = 0;
    this.#large.delete(index);
  }
}
