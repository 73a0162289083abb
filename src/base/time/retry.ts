import { toError } from "../errors.ts";
import type { Clock } from "./clock.ts";

/** The first wait, and the longest. */
export type Backoff = { readonly firstMs: number; readonly maxMs: number };

/**
 * How long to wait before attempt `attempt + 1` (the first attempt is 0): doubled each time up to
 * the maximum, then a random half of it taken off, so that many waiters do not come back together.
 */
export function backoffMs(attempt: number, backoff: Backoff, random: () => number): number {
  const ceilingMs = Math.min(backoff.maxMs, backoff.firstMs * 2 ** Math.min(attempt, 30));
  return ceilingMs * (0.5 + random() / 2);
}

/** What `retry` works with. */
export type RetryOptions = {
  readonly clock: Clock;
  readonly random: () => number;
  readonly backoff: Backoff;
  /** Ends the attempts: the promise then rejects. */
  readonly signal: AbortSignal;
  /** `false` lets the error through: it will not go away by trying again. */
  readonly isRetryable: (error: Error) => boolean;
};

/** Runs `run` until it succeeds, without a limit of attempts; the caller's `signal` is the limit. */
export async function retry<T>(run: () => Promise<T>, options: RetryOptions): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await run();
    } catch (thrown) {
      options.signal.throwIfAborted();
      if (!options.isRetryable(toError(thrown))) throw thrown;
      const waitMs = backoffMs(attempt, options.backoff, options.random);
      await options.clock.sleep(waitMs, options.signal);
    }
  }
}

/** `Retry-After`: seconds or a date of HTTP, in milliseconds from now; `null` when neither. */
export function parseRetryAfter(value: string | undefined, nowMs = Date.now()): number | null {
  if (value === undefined || value === "") return null;
  if (/^[0-9]{1,9}(\.[0-9]{1,9})?$/.test(value)) return Math.ceil(Number(value) * 1_000);
  // Dates of HTTP name their month: what has no letter would be read as one of this century's first days.
  const ms = /[a-z]/i.test(value) ? Date.parse(value) - nowMs : Number.NaN;
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}
