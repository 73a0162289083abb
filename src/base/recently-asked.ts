import { storeLimits } from "./config/limits.ts";

/**
 * Whether something was asked for before, lately. What is not requested again is not worth keeping: the
 * rows of a page kept at the first request are copied by the next collections of garbage, each of
 * which then stops everybody for 10 to 25 ms.
 */
export class RecentlyAsked {
  #newest = new Set<string>();
  #older = new Set<string>();

  /** Answers for the time before this one. */
  ask(key: string): boolean {
    const isKnown = this.#newest.has(key) || this.#older.has(key);
    this.#newest.add(key);
    if (this.#newest.size >= storeLimits.askedOnceMax) {
      this.#older = this.#newest;
      this.#newest = new Set();
    }
    return isKnown;
  }
}
