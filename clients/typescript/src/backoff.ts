/** The number of attempts, and the waits between them in milliseconds. */
export type Backoff = {
  /** The total number of attempts, including the first. */
  readonly attempts: number;
  readonly firstWaitMs: number;
  readonly longestWaitMs: number;
};

/** The backoff that the service recommends: 1000 ms, doubled each time, at most 60000 ms, 3 attempts. */
export const recommendedBackoff: Backoff = {
  attempts: 3,
  firstWaitMs: 1000,
  longestWaitMs: 60_000,
};

/**
 * Returns how long to wait after a failed attempt, counted from 1. The wait that the service asked for (`Retry-After`)
 * counts if it is longer. Returns `null` if no retry is useful: it was the last attempt, or the service asks for more
 * than the longest wait.
 */
export function waitAfter(
  attempt: number,
  requestedMs: number | null,
  { attempts, firstWaitMs, longestWaitMs }: Backoff,
): number | null {
  if (attempt >= attempts || (requestedMs ?? 0) > longestWaitMs) return null;
  const ownMs = Math.min(firstWaitMs * 2 ** (attempt - 1), longestWaitMs);
  return Math.max(ownMs, requestedMs ?? 0);
}

/** Resolves after `ms` milliseconds. Rejects with the signal's reason as soon as it is aborted. */
export async function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    function stop(): void {
      clearTimeout(timer);
      reject(signal?.reason);
    }
    signal?.addEventListener("abort", stop, { once: true });
  });
}
