/** How often to try, and how long to wait in between. Milliseconds. */
export type Backoff = {
  /** In all, the first one included. */
  readonly attempts: number;
  readonly firstWaitMs: number;
  readonly longestWaitMs: number;
};

/** What the service recommends: 1000 ms, doubled each time, at most 60000 ms, 3 attempts. */
export const recommendedBackoff: Backoff = {
  attempts: 3,
  firstWaitMs: 1000,
  longestWaitMs: 60_000,
};

/**
 * How long to wait after a failed attempt, counted from 1. What the service asked for (`Retry-After`)
 * counts when it is longer. `null`: do not try again, because it was the last attempt or the service
 * asks for more than the longest wait.
 */
export function waitAfter(
  attempt: number,
  askedMs: number | null,
  { attempts, firstWaitMs, longestWaitMs }: Backoff,
): number | null {
  if (attempt >= attempts || (askedMs ?? 0) > longestWaitMs) return null;
  const ownMs = Math.min(firstWaitMs * 2 ** (attempt - 1), longestWaitMs);
  return Math.max(ownMs, askedMs ?? 0);
}

/** Resolves after the time. Rejects with the signal's reason as soon as that is given. */
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
