import { chainLimits } from "../../base/config/limits.ts";
import { CallWindow } from "./call-window.ts";

/** Pauses after a refusal that names none: doubled with every further one. */
const pause = { firstMs: 250, maxMs: 30_000 } as const;
/** How long without a refusal before a quarter more is tried. */
const growEveryMs = 1_000;
/** Endpoints that grant less are slowed down by their own pauses. */
const callsPerSecondMin = 25;

/**
 * How fast one endpoint may be asked: within the budget of the operator, and after a refusal below the rate that was
 * too much, slowly rising again.
 */
export class RequestPacer {
  /** Calls that may be made at the same time. */
  readonly callsAtOnceMax: number;
  readonly #budget: number;
  readonly #window: CallWindow | null;
  /** What was really made: who waits may be woken late, and together with others. */
  readonly #made: CallWindow | null;
  /** What was learnt. */
  #callsPerSecond = Number.POSITIVE_INFINITY;
  #nextFreeMs = Number.NEGATIVE_INFINITY;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #changedAtMs = 0;
  #refusals = 0;
  #second = { startMs: 0, calls: 0, callsBefore: 0 };

  /** `callsPerSecondMax` is what the operator grants; `null` is no limit. */
  constructor(callsPerSecondMax: number | null) {
    this.#budget = callsPerSecondMax ?? Number.POSITIVE_INFINITY;
    this.#window = callsPerSecondMax === null ? null : new CallWindow(callsPerSecondMax);
    this.#made = callsPerSecondMax === null ? null : new CallWindow(callsPerSecondMax);
    this.callsAtOnceMax = Math.min(this.#budget, chainLimits.headersPerBatchMax);
  }

  /** The rate in force; `null` while no limit is known. */
  get callsPerSecond(): number | null {
    const rate = Math.min(this.#callsPerSecond, this.#budget);
    return Number.isFinite(rate) ? rate : null;
  }

  /** For how long the endpoint is not asked after a refusal; 0 or less when it may be. */
  pausedMs(nowMs: number): number {
    return this.#pausedUntilMs - nowMs;
  }

  /** How long a request of so many calls would have to wait now. */
  waitMs(nowMs: number, calls = 1): number {
    const startMs = Math.max(nowMs, this.#pausedUntilMs, this.#nextFreeMs);
    return startMs - nowMs + (this.#window?.waitMs(calls, startMs) ?? 0);
  }

  /** Takes a place in line for a request of so many calls; answers how long it must wait. */
  reserve(calls: number, nowMs: number): number {
    const waitMs = this.waitMs(nowMs, calls);
    this.#window?.take(calls, nowMs + waitMs);
    if (Number.isFinite(this.#callsPerSecond)) {
      this.#nextFreeMs = nowMs + waitMs + (calls * 1_000) / this.#callsPerSecond;
    }
    this.#count(calls, nowMs);
    return waitMs;
  }

  /** How much longer a request must wait whose turn has come; at 0 it counts as made. */
  make(calls: number, nowMs: number): number {
    const waitMs = this.#made?.waitMs(calls, nowMs) ?? 0;
    if (waitMs === 0) this.#made?.take(calls, nowMs);
    return waitMs;
  }

  /** The endpoint refused for the rate; `retryAfterMs` is what it asked for, if it did. */
  noteRefusal(retryAfterMs: number | null, nowMs: number): void {
    if (nowMs < this.#pausedUntilMs && retryAfterMs === null) return; // sent before the pause
    const asked = retryAfterMs ?? Math.min(pause.maxMs, pause.firstMs * 2 ** this.#refusals);
    this.#refusals = Math.min(this.#refusals + 1, 10);
    this.#pausedUntilMs = nowMs + Math.min(asked, chainLimits.retryAfterMsMax);
    const { calls, callsBefore } = this.#second;
    const wasTooMuch = Math.min(this.callsPerSecond ?? Infinity, Math.max(calls, callsBefore));
    this.#callsPerSecond = Math.max(callsPerSecondMin, wasTooMuch * 0.7);
    this.#changedAtMs = nowMs;
  }

  noteAnswer(nowMs: number): void {
    this.#refusals = 0;
    if (this.#callsPerSecond >= this.#budget || nowMs - this.#changedAtMs < growEveryMs) return;
    this.#callsPerSecond *= 1.25;
    this.#changedAtMs = nowMs;
  }

  #count(calls: number, nowMs: number): void {
    const { startMs } = this.#second;
    const age = nowMs - startMs;
    if (age >= 1_000) {
      const callsBefore = age < 2_000 ? this.#second.calls : 0;
      this.#second = { startMs: nowMs, calls: 0, callsBefore };
    }
    this.#second.calls += calls;
  }
}
