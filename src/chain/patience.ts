import { chainLimits } from "../base/limits.ts";

/** How many times longer than usual an answer may take before it is given up. */
const timesUsual = 10;
const forgetting = 0.1;

/**
 * How long to wait for the answers of an endpoint, by how long they took before: one that hangs is
 * noticed soon where answers are quick, and one that is slow gets its time. Waiting in vain doubles
 * it, up to the time after which any endpoint is treated as gone.
 */
export class Patience {
  /** Near the slowest of the last answers. */
  #usualMs = 0;
  #inVain = 0;

  get timeoutMs(): number {
    const { tailTimeoutMs, requestTimeoutMs } = chainLimits;
    const patientMs = Math.max(tailTimeoutMs, timesUsual * this.#usualMs);
    return Math.min(requestTimeoutMs, patientMs * 2 ** this.#inVain);
  }

  noteAnswer(tookMs: number): void {
    this.#inVain = 0;
    this.#usualMs = Math.max(tookMs, this.#usualMs + (tookMs - this.#usualMs) * forgetting);
  }

  noteTimeout(): void {
    this.#inVain = Math.min(this.#inVain + 1, 8);
  }
}
