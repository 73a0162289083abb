/** Whether something happens too often: more than `limit` times in any `windowMs`. */
export class RecentCount {
  readonly #limit: number;
  readonly #windowMs: number;
  #times: number[] | null = null;

  constructor(limit: number, windowMs: number) {
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  /** Notes one more at `nowMs`, which never goes back; `false` when it is one too many. */
  add(nowMs: number): boolean {
    const recent = (this.#times ?? []).filter((time) => nowMs - time < this.#windowMs);
    recent.push(nowMs);
    this.#times = recent.slice(-this.#limit - 1);
    return recent.length <= this.#limit;
  }
}
