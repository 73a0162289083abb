import { type Backoff, backoffMs } from "../../base/time/retry.ts";

/** Whether attempts are made: `closed` all, `half_open` one, `open` none. */
export type BreakerState = "closed" | "open" | "half_open";

/** Open after some failures in a row, for longer each time; then half-open, which admits one attempt. */
export class Breaker {
  readonly #failuresMax: number;
  readonly #backoff: Backoff;
  readonly #random: () => number;
  #failures = 0;
  #openUntilMs = 0;

  /** `failuresMax` in a row open it, for as long as `backoff` says. */
  constructor(options: { failuresMax: number; backoff: Backoff; random: () => number }) {
    this.#failuresMax = options.failuresMax;
    this.#backoff = options.backoff;
    this.#random = options.random;
  }

  state(nowMs: number): BreakerState {
    if (this.#failures < this.#failuresMax) return "closed";
    return nowMs < this.#openUntilMs ? "open" : "half_open";
  }

  /** Whether an attempt may start; a half-open breaker opens again for all but this one. */
  tryPass(nowMs: number): boolean {
    const state = this.state(nowMs);
    // Counted as failed until it succeeds.
    if (state === "half_open") this.fail(nowMs);
    return state !== "open";
  }

  succeed(): void {
    this.#failures = 0;
  }

  /** While it is open, attempts end that began before: they say nothing new. */
  fail(nowMs: number): void {
    if (this.state(nowMs) === "open") return;
    this.#failures += 1;
    const round = this.#failures - this.#failuresMax;
    if (round >= 0) this.#openUntilMs = nowMs + backoffMs(round, this.#backoff, this.#random);
  }
}
