import type { LimitStatus } from "../base/sliding-window.ts";
import type { Awaitable } from "../base/time/awaitable.ts";

/** The status of a caller that is refused and has no requests left. */
export const refusedStatus: Omit<LimitStatus, "limit"> = {
  isAdmitted: false,
  isUnavailable: false,
  remaining: 0,
  resetMs: 0,
  atMs: 0,
};

/**
 * Counts the requests of each caller in the trailing `windowMs`. A window of one process answers immediately. A window
 * that several nodes share can answer with a promise, which never rejects.
 */
export type RateWindow = {
  /** Admits a request at `nowMs` of the monotonic clock, or refuses it without counting it. */
  acquire(caller: string, limit: number, nowMs: number): Awaitable<LimitStatus>;
  /** Returns the status of a caller without counting a request. */
  peek(caller: string, limit: number, nowMs: number): Awaitable<LimitStatus>;
  forget(caller: string): void;
};
