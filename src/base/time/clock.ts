import { setTimeout as delay } from "node:timers/promises";

/** The source of time. A simulation replaces it. */
export type Clock = {
  /** Unix milliseconds of the wall clock, which can jump; for times that people read. */
  nowMs(): number;
  /** Milliseconds that never go back; for measuring, limits and waiting. */
  monotonicMs(): number;
  /** Resolves after `ms`; rejects as soon as `signal` is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
};

/** The clock of the machine. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) => delay(ms, undefined, { signal }),
};
