import { lowerBound } from "../../base/lower-bound.ts";

/**
 * A price level and its size, both in millionths. They are plain numbers: a price is below 10^6, a size below 2^53
 * (nine billion shares), and books change too often for `bigint`.
 */
export type Level = { readonly price: number; readonly size: number };

/**
 * The levels of one side in two flat arrays, worst first: most changes are near the best price, where an insertion
 * moves the fewest entries. No level has a size of 0.
 */
export class BookSide {
  readonly #isBid: boolean;
  #prices: number[] = [];
  #sizes: number[] = [];

  constructor(side: "bid" | "ask") {
    this.#isBid = side === "bid";
  }

  /** The best price; `null` for an empty side. */
  get best(): number | null {
    return this.#prices.at(-1) ?? null;
  }

  /** Sets the size at `price`; 0 removes the level. */
  set(price: number, size: number): void {
    const at = this.#findIndex(price);
    const isThere = this.#prices[at] === price;
    if (size === 0) {
      if (!isThere) return;
      this.#prices.splice(at, 1);
      this.#sizes.splice(at, 1);
    } else if (isThere) {
      this.#sizes[at] = size;
    } else {
      this.#prices.splice(at, 0, price);
      this.#sizes.splice(at, 0, size);
    }
  }

  /** Replaces all levels, given in any order; returns whether anything changed. */
  replace(levels: readonly Level[]): boolean {
    const worstFirst = levels.toSorted((a, b) => (this.#isBid ? 1 : -1) * (a.price - b.price));
    const isSame =
      worstFirst.length === this.#prices.length &&
      worstFirst.every(
        ({ price, size }, at) => price === this.#prices[at] && size === this.#sizes[at],
      );
    if (isSame) return false;
    this.#prices = worstFirst.map(({ price }) => price);
    this.#sizes = worstFirst.map(({ size }) => size);
    return true;
  }

  /** Up to `count` levels, best first. */
  top(count: number): Level[] {
    const levels: Level[] = [];
    const end = Math.max(0, this.#prices.length - count);
    for (let at = this.#prices.length - 1; at >= end; at -= 1) levels.push(this.#levelAt(at));
    return levels;
  }

  /** All levels, worst first, as the venue lists them. */
  worstFirst(): Level[] {
    return this.#prices.map((_, at) => this.#levelAt(at));
  }

  #levelAt(at: number): Level {
    return { price: this.#prices[at] ?? 0, size: this.#sizes[at] ?? 0 };
  }

  /** The index of `price`, or where to insert it. */
  #findIndex(price: number): number {
    const prices = this.#prices;
    return lowerBound(prices.length, (index) => {
      const there = prices[index] ?? 0;
      return this.#isBid ? there < price : there > price;
    });
  }
}
