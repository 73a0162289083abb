/** Whether something happens too often: more than `limit` times in any `windowMs`. */
export class RecentCount {
  readonly #limit: number;
  readonly #windowMs: number;
  #times: number[] | null = null;

  constructor(limit: number, windowMs: number) {
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  /**
   * Counts one more at `nowMs`, which never goes back; `false` when it is one too many. `lagMs` is how long what
   * happened may have waited to be counted: then the window covers as much more time.
   */
  add(nowMs: number, lagMs = 0): boolean {
    const limit = Math.floor(this.#limit * (1 + lagMs / this.#windowMs));
    const recent = (this.#times ?? []).filter((time) => nowMs - time < this.#windowMs);
    recent.push(nowMs);
    this.#times = recent.slice(-limit - 1);
    return recent.length <= limit;
  }
}
