import type { Awaitable } from "../base/time/awaitable.ts";

/** What a caller is allowed at one moment, as a value. */
export type Standing = {
  readonly isAdmitted: boolean;
  /** Whether it was not admitted because the requests of other nodes are not known. */
  readonly isUnavailable: boolean;
  /** Requests in any `windowMs`. */
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until the oldest counted request leaves the window; 0 when there is none. */
  readonly resetMs: number;
  /** When it was decided, in milliseconds of the clock that the window goes by. */
  readonly atMs: number;
};

/** Nothing is admitted, and nothing is left. */
export const noStanding: Omit<Standing, "limit"> = {
  isAdmitted: false,
  isUnavailable: false,
  remaining: 0,
  resetMs: 0,
  atMs: 0,
};

/**
 * How many requests each caller has made in the trailing `windowMs`. In one process the answer is there when asked; of
 * a window that several nodes share it is a promise, which never rejects.
 */
export type RateWindow = {
  /** Admits a request at `nowMs` of the monotonic clock, or refuses it without counting it. */
  take(caller: string, limit: number, nowMs: number): Awaitable<Standing>;
  /** The same without counting anything. */
  look(caller: string, limit: number, nowMs: number): Awaitable<Standing>;
  forget(caller: string): void;
};
