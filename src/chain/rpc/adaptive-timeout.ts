import { chainLimits } from "../../base/config/limits.ts";

/** How many times longer than usual an answer may take before it is given up. */
const timesUsual = 3;
/** What a busy machine or a collected heap may add to that. */
const hiccupMs = 400;
const forgetting = 0.1;

/** How long to wait for an answer, and what learns of how long it took. */
export type Patience = {
  readonly timeoutMs: number;
  noteAnswer?(tookMs: number): void;
  noteTimeout?(waitedMs: number): void;
};

/** How long to wait for an endpoint, by how long its answers took; doubled by each timeout, up to a limit. */
export class AdaptiveTimeout implements Patience {
  /** Near the slowest of the last answers; `null` before the first. */
  #usualMs: number | null = null;
  #inVain = 0;
  readonly #leastMs: number;

  constructor(leastMs = 0) {
    this.#leastMs = leastMs;
  }

  get timeoutMs(): number {
    const { headTimeoutMs, requestTimeoutMs } = chainLimits;
    const usualMs = this.#usualMs === null ? headTimeoutMs : hiccupMs + timesUsual * this.#usualMs;
    return Math.min(requestTimeoutMs, Math.max(this.#leastMs, usualMs) * 2 ** this.#inVain);
  }

  noteAnswer(tookMs: number): void {
    this.#inVain = 0;
    const before = this.#usualMs ?? tookMs;
    this.#usualMs = Math.max(tookMs, before + (tookMs - before) * forgetting);
  }

  /** Of requests that were made at the same time, one counts. */
  noteTimeout(waitedMs: number): void {
    if (waitedMs >= this.timeoutMs) this.#inVain = Math.min(this.#inVain + 1, 8);
  }
}
