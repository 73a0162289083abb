import { chainLimits } from "../../base/config/limits.ts";
import { SlidingWindow } from "../../base/sliding-window.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { ChainContext } from "../chain-context.ts";
import { EndpointError } from "../chain-errors.ts";

/** The pause after a refusal that names none. Each further refusal doubles it. */
const pause = { firstMs: 250, maxMs: 30_000 } as const;
/** Length of the rate window. The margin over a second allows for calls that arrive faster than earlier ones. */
const windowMs = 1_050;
/** How long after a change of the rate until it grows. */
const growEveryMs = 1_000;
/** The lowest learned rate. Endpoints that allow less are slowed down by the pauses after their refusals. */
const callsPerSecondMin = 1;
/**
 * Some endpoints refuse a share of all requests, however slow these are. So below this rate, only two refusals in a row
 * lower it, and it doubles instead of growing by a quarter. `test/sim/rate-limit.test.ts` shows both kinds of endpoints.
 */
const callsPerSecondLow = 10;
/** The share of `#callsAnswered` that is left after a refusal, since the endpoint may allow less than before. */
const answeredKept = 0.9;

type WaitContext = Pick<ChainContext, "clock" | "signal">;

/**
 * Paces the requests to one endpoint. The rate stays within the operator's budget. After a refusal it drops below the
 * refused rate and then slowly rises again.
 */
export class RequestPacer {
  readonly #budget: number;
  readonly #window: SlidingWindow | null;
  #waitingCalls = 0;
  /** Resolves when the last of these requests has had its turn. */
  #lastTurn: Promise<unknown> = Promise.resolve();
  /** The rate learned from refusals. */
  #callsPerSecond = Number.POSITIVE_INFINITY;
  /** The calls of the largest answered request, less with each refusal. So many in a second are refused by chance. */
  #callsAnswered = 0;
  #nextFreeMs = Number.NEGATIVE_INFINITY;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #changedAtMs = 0;
  #refusals = 0;
  #refusalsInRow = 0;
  #second = { startMs: 0, calls: 0, callsBefore: 0 };

  /** `callsPerSecondMax` is the operator's budget; `null` is no limit. */
  constructor(callsPerSecondMax: number | null) {
    this.#budget = callsPerSecondMax ?? Number.POSITIVE_INFINITY;
    this.#window =
      callsPerSecondMax === null ? null : new SlidingWindow(callsPerSecondMax, windowMs);
  }

  /** Refusals since the start. */
  get refusals(): number {
    return this.#refusals;
  }

  /** The most calls in one request: those of a second, since a larger request is refused whenever it is sent. */
  get #callsAtOnceMax(): number {
    return Math.min(Math.floor(this.callsPerSecond ?? Infinity), chainLimits.headersPerBatchMax);
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

  /** Says that requests wait because the endpoint limits them, and until when. */
  describePause(clock: Clock): string {
    const endsAtMs = clock.nowMs() + this.pausedMs(clock.monotonicMs());
    return `limits its requests and is asked again at ${new Date(endsAtMs).toISOString().slice(0, 19)}Z`;
  }

  /** Estimates how long a call would have to wait now, after all requests that wait already. */
  waitMs(nowMs: number): number {
    const queueMs = (this.#waitingCalls * 1_000) / (this.callsPerSecond ?? Infinity);
    return this.#turnMs(1, nowMs) + queueMs;
  }

  /**
   * Waits until a request can be sent, after all requests that wait already. Returns how many of its `wanted` calls it
   * can have, which count as sent. Throws a `rate_limited` `EndpointError` while the endpoint is paused for long.
   */
  async awaitTurn(requested: number, context: WaitContext): Promise<number> {
    this.#waitingCalls += requested;
    const turn = this.#lastTurn.then(() => this.#awaitTurn(requested, context));
    this.#lastTurn = turn.catch(() => {});
    try {
      return await turn;
    } finally {
      this.#waitingCalls -= requested;
    }
  }

  /** Records a refusal because of the rate. `retryAfterMs` is the pause that the endpoint asked for, if any. */
  recordRefusal(retryAfterMs: number | null, nowMs: number): void {
    this.#refusals += 1;
    // 0 seconds, or a date that is past by our clock, names no pause: requests would continue without one.
    const isNamed = retryAfterMs !== null && retryAfterMs > 0;
    const isPaused = nowMs < this.#pausedUntilMs; // then it was sent before the pause, at the old rate
    if (isPaused && !isNamed) return;
    const { calls, callsBefore } = this.#second;
    const sent = Math.max(calls, callsBefore);
    const isByChance = sent <= this.#callsAnswered;
    this.#callsAnswered *= answeredKept;
    const doubled = isByChance ? 0 : this.#refusalsInRow;
    const ownMs = Math.min(pause.maxMs, pause.firstMs * 2 ** doubled);
    const requestedMs = isNamed ? retryAfterMs : ownMs;
    this.#pausedUntilMs = nowMs + Math.min(requestedMs, chainLimits.retryAfterMsMax);
    if (isPaused || isByChance) return;
    this.#refusalsInRow = Math.min(this.#refusalsInRow + 1, 10);
    const wasTooMuch = Math.min(this.callsPerSecond ?? Infinity, sent);
    const isProven = this.#refusalsInRow > 1;
    const lowest = isProven ? callsPerSecondMin : Math.min(callsPerSecondLow, this.#callsPerSecond);
    this.#callsPerSecond = Math.max(lowest, wasTooMuch * 0.7);
    this.#changedAtMs = nowMs;
  }

  /** Records the answer to a request of so many calls. */
  recordAnswer(calls: number, nowMs: number): void {
    this.#callsAnswered = Math.max(this.#callsAnswered, calls);
    this.#refusalsInRow = 0;
    if (this.#callsPerSecond >= this.#budget || nowMs - this.#changedAtMs < growEveryMs) return;
    this.#callsPerSecond *= this.#callsPerSecond < callsPerSecondLow ? 2 : 1.25;
    this.#changedAtMs = nowMs;
  }

  async #awaitTurn(requested: number, { clock, signal }: WaitContext): Promise<number> {
    for (;;) {
      const nowMs = clock.monotonicMs();
      if (this.pausedMs(nowMs) > chainLimits.pauseMsMax) {
        throw new EndpointError("rate_limited", this.describePause(clock));
      }
      const calls = Math.min(requested, this.#callsAtOnceMax);
      const waitMs = this.#turnMs(calls, nowMs);
      if (waitMs === 0) {
        this.#recordSent(calls, nowMs);
        return calls;
      }
      // A refusal can pause and slow down all requests meanwhile.
      // A wait that the clock cannot resolve would not end.
      await clock.sleep(Math.max(waitMs, 0.001), signal);
    }
  }

  #turnMs(calls: number, nowMs: number): number {
    const startMs = Math.max(nowMs, this.#pausedUntilMs, this.#nextFreeMs);
    return startMs - nowMs + (this.#window?.waitMs(calls, startMs) ?? 0);
  }

  #recordSent(calls: number, nowMs: number): void {
    for (let call = 0; call < calls; call += 1) this.#window?.acquire(nowMs);
    this.#nextFreeMs = nowMs + (calls * 1_000) / this.#callsPerSecond;
    const { startMs } = this.#second;
    const age = nowMs - startMs;
    if (age >= 1_000) {
      const callsBefore = age < 2_000 ? this.#second.calls : 0;
      this.#second = { startMs: nowMs, calls: 0, callsBefore };
    }
    this.#second.calls += calls;
  }
}
