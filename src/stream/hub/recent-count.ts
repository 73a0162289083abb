/** Detects when something happens more than `limit` times within `windowMs`. */
export class RecentCount {
  readonly #limit: number;
  readonly #windowMs: number;
  #times: number[] = [];

  constructor(limit: number, windowMs: number) {
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  /** Counts one more at `nowMs`; returns `false` if it is over the limit. `lagMs` raises the limit in proportion. */
  add(nowMs: number, lagMs = 0): boolean {
    const limit = Math.floor(this.#limit * (1 + lagMs / this.#windowMs));
    const recent = this.#times.filter((time) => nowMs - time < this.#windowMs);
    recent.push(nowMs);
    this.#times = recent.slice(-limit - 1);
    return recent.length <= limit;
  }
}
