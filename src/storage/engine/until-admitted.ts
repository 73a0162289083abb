import { setTimeout as delay } from "node:timers/promises";
import { serverLimits, storeLimits } from "../../base/config/limits.ts";
import { AppError } from "../../base/errors.ts";
import { systemClock } from "../../base/time/clock.ts";

/**
 * Repeats idempotent work while the engine refuses it: because requests keep the engine busy, or because the server is
 * unavailable. Throws `SERVICE_UNAVAILABLE` when it still fails after `outageMsMax`.
 */
export async function untilAdmitted<Result>(work: () => Promise<Result>): Promise<Result> {
  const startedAtMs = systemClock.monotonicMs();
  for (;;) {
    try {
      return await work();
    } catch (thrown) {
      const waitedMs = systemClock.monotonicMs() - startedAtMs;
      if (!(thrown instanceof AppError) || waitedMs > storeLimits.outageMsMax) throw thrown;
      // An error with a cause is an outage. Retrying as often as when the engine is busy would add to the load.
      await delay(
        thrown.cause === undefined ? storeLimits.mutationsPollMs : serverLimits.outageRetryMs,
      );
    }
  }
}
