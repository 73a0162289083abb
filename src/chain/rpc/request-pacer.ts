import { chainLimits } from "../../base/config/limits.ts";
import { CallWindow } from "./call-window.ts";

/** The pause after a refusal that names none. Each further refusal doubles it. */
const pause = { firstMs: 250, maxMs: 30_000 } as const;
/** How long after a change of the rate until it grows by a quarter. */
const growEveryMs = 1_000;
/** The lowest learnt rate. Endpoints that allow less are slowed down by the pauses after their refusals. */
const callsPerSecondMin = 25;

/**
 * Paces the requests to one endpoint. The rate stays within the operator's budget. After a refusal it drops below the
 * refused rate and then slowly rises again.
 */
export class RequestPacer {
  readonly #budget: number;
  readonly #window: CallWindow | null;
  /** The requests that were really sent: waiting requests can wake late and several at a time. */
  readonly #sent: CallWindow | null;
  /** The rate learnt from refusals. */
  #callsPerSecond = Number.POSITIVE_INFINITY;
  #nextFreeMs = Number.NEGATIVE_INFINITY;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #changedAtMs = 0;
  #refusals = 0;
  #second = { startMs: 0, calls: 0, callsBefore: 0 };

  /** `callsPerSecondMax` is the operator's budget; `null` is no limit. */
  constructor(callsPerSecondMax: number | null) {
    this.#budget = callsPerSecondMax ?? Number.POSITIVE_INFINITY;
    this.#window = callsPerSecondMax === null ? null : new CallWindow(callsPerSecondMax);
    this.#sent = callsPerSecondMax === null ? null : new CallWindow(callsPerSecondMax);
  }

  /** The most calls in one request: those of a second, since a larger request is refused whenever it is sent. */
  get callsAtOnceMax(): number {
    const rate = Math.floor(Math.min(this.#callsPerSecond, this.#budget));
    return Math.min(rate, chainLimits.headersPerBatchMax);
  }

  /** The current limit in calls per second; `null` while no limit is known. */
  get callsPerSecond(): number | null {
    const rate = Math.min(this.#callsPerSecond, this.#budget);
    return Number.isFinite(rate) ? rate : null;
  }

  /** How much longer the endpoint is paused after a refusal; 0 or less when it is not. */
  pausedMs(nowMs: number): number {
    return this.#pausedUntilMs - nowMs;
  }

  /** How long a request of so many calls would have to wait now. Reserves nothing. */
  waitMs(nowMs: number, calls = 1): number {
    const startMs = Math.max(nowMs, this.#pausedUntilMs, this.#nextFreeMs);
    return startMs - nowMs + (this.#window?.waitMs(calls, startMs) ?? 0);
  }

  /** Reserves a turn for a request of so many calls; returns how long it must wait for it. */
  reserve(calls: number, nowMs: number): number {
    const waitMs = this.waitMs(nowMs, calls);
    this.#window?.take(calls, nowMs + waitMs);
    if (Number.isFinite(this.#callsPerSecond)) {
      this.#nextFreeMs = nowMs + waitMs + (calls * 1_000) / this.#callsPerSecond;
    }
    this.#count(calls, nowMs);
    return waitMs;
  }

  /** Returns how much longer a request whose turn has come must wait; at 0 it counts as sent. */
  takeTurn(calls: number, nowMs: number): number {
    const waitMs = this.#sent?.waitMs(calls, nowMs) ?? 0;
    if (waitMs === 0) this.#sent?.take(calls, nowMs);
    return waitMs;
  }

  /** Notes a refusal because of the rate. `retryAfterMs` is the pause that the endpoint asked for, if any. */
  noteRefusal(retryAfterMs: number | null, nowMs: number): void {
    // 0 seconds, or a date that is past by our clock, names no pause: requests would continue without one.
    const isNamed = retryAfterMs !== null && retryAfterMs > 0;
    if (nowMs < this.#pausedUntilMs && !isNamed) return; // sent before the pause
    const ownMs = Math.min(pause.maxMs, pause.firstMs * 2 ** this.#refusals);
    const askedMs = isNamed ? retryAfterMs : ownMs;
    this.#refusals = Math.min(this.#refusals + 1, 10);
    this.#pausedUntilMs = nowMs + Math.min(askedMs, chainLimits.retryAfterMsMax);
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
