import { setTimeout as delay } from "node:timers/promises";

/** Time as the code sees it; a simulation puts its own in this place. */
export type Clock = {
  /** Unix milliseconds of the wall clock, which may jump; for what people read. */
  nowMs(): number;
  /** Milliseconds that never go back; for measuring, limits and waiting. */
  monotonicMs(): number;
  /** Resolves after `ms`; rejects as soon as `signal` is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
};

/** The clocks of the machine. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) => delay(ms, undefined, { signal }),
};
