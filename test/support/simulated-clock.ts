import type { Clock } from "../../src/base/time/clock.ts";

type Timer = { readonly atMs: number; readonly fire: () => void };

/** The year 2033: later than the blocks of any test, because the time of a block is not ahead of the clock. */
const startMs = 2_000_000_000_000;
/** No correct code needs more timers at one moment. */
const timersAtOnceMax = 10_000;

/** Simulated time that passes only when nothing else can happen: hours take milliseconds. */
export class SimulatedClock implements Clock {
  #monotonicMs = 0;
  /** Timers ordered by time, then by order of creation. */
  readonly #timers: Timer[] = [];

  nowMs(): number {
    return startMs + Math.floor(this.#monotonicMs);
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const stop = () => {
        this.#timers.splice(this.#timers.indexOf(timer), 1);
        reject(signal.reason);
      };
      const fire = () => {
        signal.removeEventListener("abort", stop);
        resolve();
      };
      const timer = { atMs: this.#monotonicMs + Math.max(0, ms), fire };
      signal.addEventListener("abort", stop, { once: true });
      const index = this.#timers.findLastIndex(({ atMs }) => atMs <= timer.atMs);
      this.#timers.splice(index + 1, 0, timer);
    });
  }

  /**
   * Lets time pass until `isOver`. Fails after `limitMs` of simulated time, or if no timer is left. While `isPaused`,
   * real work is in progress and simulated time stands still.
   */
  async run(options: {
    readonly isOver: () => boolean;
    readonly limitMs: number;
    readonly isPaused?: () => boolean;
  }): Promise<void> {
    const { isOver, isPaused = () => false } = options;
    const deadlineMs = this.#monotonicMs + options.limitMs;
    let timersAtOnce = 0;
    for (;;) {
      // After a round of the event loop, everything that needs no time has been done.
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
      if (isOver()) return;
      if (isPaused()) continue;
      const timer = this.#timers.shift();
      if (timer === undefined) throw new Error("nothing is left that could go on");
      timersAtOnce = timer.atMs > this.#monotonicMs ? 0 : timersAtOnce + 1;
      if (timersAtOnce > timersAtOnceMax) throw new Error("it goes round without time passing");
      this.#monotonicMs = timer.atMs;
      if (this.#monotonicMs > deadlineMs) throw new Error(`not over after ${options.limitMs} ms`);
      timer.fire();
    }
  }
}
