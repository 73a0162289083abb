import { type Backoff, backoffMs } from "../../base/time/retry.ts";

/** Which attempts are admitted: all when `closed`, one when `half_open`, none when `open`. */
export type BreakerState = "closed" | "open" | "half_open";

/** A circuit breaker: opens after some failures in a row, for longer each time, and then admits one attempt. */
export class Breaker {
  readonly #failuresMax: number;
  readonly #backoff: Backoff;
  readonly #random: () => number;
  #failures = 0;
  #openUntilMs = 0;

  /** `failuresMax` failures in a row open it, for as long as `backoff` says. */
  constructor(options: { failuresMax: number; backoff: Backoff; random: () => number }) {
    this.#failuresMax = options.failuresMax;
    this.#backoff = options.backoff;
    this.#random = options.random;
  }

  state(nowMs: number): BreakerState {
    if (this.#failures < this.#failuresMax) return "closed";
    return nowMs < this.#openUntilMs ? "open" : "half_open";
  }

  /** Whether an attempt can start. A half-open breaker admits this one and opens again for all others. */
  tryPass(nowMs: number): boolean {
    const state = this.state(nowMs);
    // The attempt counts as failed until it succeeds.
    if (state === "half_open") this.fail(nowMs);
    return state !== "open";
  }

  succeed(): void {
    this.#failures = 0;
  }

  /** Records a failure. Ignores it while open: the attempt began before that and proves nothing new. */
  fail(nowMs: number): void {
    if (this.state(nowMs) === "open") return;
    this.#failures += 1;
    const round = this.#failures - this.#failuresMax;
    if (round >= 0) this.#openUntilMs = nowMs + backoffMs(round, this.#backoff, this.#random);
  }
}
