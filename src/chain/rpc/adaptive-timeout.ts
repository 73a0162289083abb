import { chainLimits } from "../../base/config/limits.ts";

/** How many times the usual time an answer can take before the request is aborted. */
const timesUsual = 3;
/** Extra time for a busy machine or a garbage collection. */
const hiccupMs = 400;
const forgetting = 0.1;

/** The timeout of a request. It can learn from how long answers take. */
export type RequestTimeout = {
  readonly timeoutMs: number;
  recordAnswer?(tookMs: number): void;
  recordTimeout?(waitedMs: number): void;
};

/** A timeout that follows how long an endpoint's answers take. Each timeout doubles it, up to `requestTimeoutMs`. */
export class AdaptiveTimeout implements RequestTimeout {
  /** The time of the slowest recent answer, which slowly decays; `null` before the first. */
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

  recordAnswer(tookMs: number): void {
    this.#inVain = 0;
    const before = this.#usualMs ?? tookMs;
    this.#usualMs = Math.max(tookMs, before + (tookMs - before) * forgetting);
  }

  /** Records a timeout. Requests that were sent at the same time count once. */
  recordTimeout(waitedMs: number): void {
    if (waitedMs >= this.timeoutMs) this.#inVain = Math.min(this.#inVain + 1, 8);
  }
}
