/** A seeded random generator: the same seed gives the same market. Its whole state is one 32-bit number. */
export class Random {
  #state: number;

  constructor(state: number) {
    this.#state = state >>> 0;
  }

  /** A generator constructed with this state continues the sequence. */
  get state(): number {
    return this.#state;
  }

  /** Returns a uniform number in [0, 1): a counter of fixed step, scrambled (Mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** Returns a whole number from 0 to `end` - 1. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new RangeError("nothing to pick from");
    return item;
  }

  /** Picks an item with a probability in proportion to its weight. */
  pickWeighted<Item>(items: readonly Item[], getWeight: (item: Item) => number): Item {
    let left = this.next() * items.reduce((sum, item) => sum + getWeight(item), 0);
    for (const item of items) {
      left -= getWeight(item);
      if (left < 0) return item;
    }
    return this.pick(items);
  }

  /** Returns a normal number with mean 0 and deviation 1 (Box-Muller). */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
  }

  /** Returns the waiting time of independent events that come every `mean` on average. */
  exponential(mean: number): number {
    return -mean * Math.log(1 - this.next());
  }

  /** Returns a log-normal number. Half of the values are below `median`; `spread` is the deviation of the logarithm. */
  logNormal(median: number, spread: number): number {
    return median * Math.exp(spread * this.normal());
  }
}
