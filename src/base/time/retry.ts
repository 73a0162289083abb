/** The first and the longest wait, in milliseconds. */
export type Backoff = { readonly firstMs: number; readonly maxMs: number };

/**
 * Returns how long to wait after the failure of `attempt` (the first is 0). The wait doubles each time up to the
 * maximum. It is then reduced by a random part of up to a half, so that many waiters do not retry together.
 */
export function backoffMs(attempt: number, backoff: Backoff, random: () => number): number {
  const ceilingMs = Math.min(backoff.maxMs, backoff.firstMs * 2 ** Math.min(attempt, 30));
  return ceilingMs * (0.5 + random() / 2);
}

/** Parses `Retry-After`, in seconds or as an HTTP date, to milliseconds from now; `null` when it is neither. */
export function parseRetryAfter(value: string | undefined, nowMs = Date.now()): number | null {
  if (value === undefined || value === "") return null;
  if (/^[0-9]{1,9}(\.[0-9]{1,9})?$/.test(value)) return Math.ceil(Number(value) * 1_000);
  // HTTP dates contain the name of a month. `Date.parse` would also accept some texts without letters as dates.
  const ms = /[a-z]/i.test(value) ? Date.parse(value) - nowMs : Number.NaN;
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}
