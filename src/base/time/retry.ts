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

/** `Retry-After`: seconds or a date of HTTP, in milliseconds from now; `null` when neither. */
export function parseRetryAfter(value: string | undefined, nowMs = Date.now()): number | null {
  if (value === undefined || value === "") return null;
  if (/^[0-9]{1,9}(\.[0-9]{1,9})?$/.test(value)) return Math.ceil(Number(value) * 1_000);
  // Dates of HTTP name their month: what has no letter would be read as one of this century's first days.
  const ms = /[a-z]/i.test(value) ? Date.parse(value) - nowMs : Number.NaN;
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}
