import type { Log } from "../base/log.ts";
import type { Clock } from "../base/time/clock.ts";

/** The context that all parts of a chain source share. */
export type ChainContext = {
  readonly clock: Clock;
  /** In [0, 1); for jitter and exploration only. */
  readonly random: () => number;
  readonly log: Log;
  /** Aborted when the source is closed, which ends all running work. */
  readonly signal: AbortSignal;
};
