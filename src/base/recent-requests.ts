import { storeLimits } from "./config/limits.ts";

/**
 * Remembers which keys were requested recently, so that rows are cached only on the second request. Rows that
 * are cached at the first request are copied by the next garbage collections, each of which then stops the
 * process for 10 to 25 ms.
 */
export class RecentRequests {
  #newest = new Set<string>();
  #older = new Set<string>();

  /** Returns whether `key` was requested before, and remembers it. */
  isRepeat(key: string): boolean {
    const isKnown = this.#newest.has(key) || this.#older.has(key);
    this.#newest.add(key);
    if (this.#newest.size >= storeLimits.recentRequestsMax) {
      this.#older = this.#newest;
      this.#newest = new Set();
    }
    return isKnown;
  }
}
