/** So many numbers have bounds together: few, so that most ranges hold none of the best of a million. */
export const blockItems = 512;

/**
 * Between which numbers those of each range of a column are, so that anyone who looks for large ones
 * passes over most of them. Bounds are never too narrow; the upper ones are nearly always exact.
 */
export class BlockBounds {
  readonly #numbers: () => ArrayLike<number>;
  #lows = new Float64Array(0);
  #highs = new Float64Array(0);
  /** Ranges that have bounds. */
  #isKnown = new Uint8Array(0);

  constructor(numbers: () => ArrayLike<number>) {
    this.#numbers = numbers;
  }

  /** Says that a number has taken the place of another. */
  follow(index: number, before: number, number: number): void {
    const interval = Math.floor(index / blockItems);
    if (this.#isKnown[interval] !== 1) return;
    const high = this.#highs[interval] ?? 0;
    if (number >= high) this.#highs[interval] = number;
    else if (before === high) this.#isKnown[interval] = 0;
    if (number < (this.#lows[interval] ?? 0)) this.#lows[interval] = number;
  }

  /** Says that there are more numbers than before. */
  forget(): void {
    this.#isKnown.fill(0);
  }

  /** None of a range is smaller. */
  low(interval: number): number {
    this.#know(interval);
    return this.#lows[interval] ?? 0;
  }

  /** None of it is larger. */
  high(interval: number): number {
    this.#know(interval);
    return this.#highs[interval] ?? 0;
  }

  #know(interval: number): void {
    if (this.#isKnown[interval] === 1) return;
    const numbers = this.#numbers();
    if (interval >= this.#isKnown.length) this.#grow(Math.ceil(numbers.length / blockItems));
    const start = interval * blockItems;
    const end = Math.min(start + blockItems, numbers.length);
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (let at = start; at < end; at += 1) {
      const number = numbers[at] ?? 0;
      if (number < low) low = number;
      if (number > high) high = number;
    }
    this.#lows[interval] = low;
    this.#highs[interval] = high;
    this.#isKnown[interval] = 1;
  }

  #grow(ranges: number): void {
    const [lows, highs, isKnown] = [this.#lows, this.#highs, this.#isKnown];
    this.#lows = new Float64Array(ranges);
    this.#highs = new Float64Array(ranges);
    this.#isKnown = new Uint8Array(ranges);
    this.#lows.set(lows);
    this.#highs.set(highs);
    this.#isKnown.set(isKnown);
  }
}
