/** So many numbers have bounds together: few, so that most stretches hold none of the best of a million. */
export const blockItems = 512;

/**
 * Between which numbers those of each stretch of a column are, so that whoever looks for large ones
 * passes over most of them. Bounds are never too narrow; the upper ones are nearly always exact.
 */
export class BlockBounds {
  readonly #numbers: () => ArrayLike<number>;
  #lows = new Float64Array(0);
  #highs = new Float64Array(0);
  /** Stretches that have bounds. */
  #isKnown = new Uint8Array(0);

  constructor(numbers: () => ArrayLike<number>) {
    this.#numbers = numbers;
  }

  /** Says that a number has taken the place of another. */
  follow(index: number, before: number, number: number): void {
    const stretch = Math.floor(index / blockItems);
    if (this.#isKnown[stretch] !== 1) return;
    const high = this.#highs[stretch] ?? 0;
    if (number >= high) this.#highs[stretch] = number;
    else if (before === high) this.#isKnown[stretch] = 0;
    if (number < (this.#lows[stretch] ?? 0)) this.#lows[stretch] = number;
  }

  /** Says that there are more numbers than before. */
  forget(): void {
    this.#isKnown.fill(0);
  }

  /** None of a stretch is smaller. */
  low(stretch: number): number {
    this.#know(stretch);
    return this.#lows[stretch] ?? 0;
  }

  /** None of it is larger. */
  high(stretch: number): number {
    this.#know(stretch);
    return this.#highs[stretch] ?? 0;
  }

  #know(stretch: number): void {
    if (this.#isKnown[stretch] === 1) return;
    const numbers = this.#numbers();
    if (stretch >= this.#isKnown.length) this.#grow(Math.ceil(numbers.length / blockItems));
    const start = stretch * blockItems;
    const end = Math.min(start + blockItems, numbers.length);
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (let at = start; at < end; at += 1) {
      const number = numbers[at] ?? 0;
      if (number < low) low = number;
      if (number > high) high = number;
    }
    this.#lows[stretch] = low;
    this.#highs[stretch] = high;
    this.#isKnown[stretch] = 1;
  }

  #grow(stretches: number): void {
    const [lows, highs, isKnown] = [this.#lows, this.#highs, this.#isKnown];
    this.#lows = new Float64Array(stretches);
    this.#highs = new Float64Array(stretches);
    this.#isKnown = new Uint8Array(stretches);
    this.#lows.set(lows);
    this.#highs.set(highs);
    this.#isKnown.set(isKnown);
  }
}
