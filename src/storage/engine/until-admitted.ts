import { setTimeout as delay } from "node:timers/promises";
import { serverLimits, storeLimits } from "../../base/config/limits.ts";
import { AppError } from "../../base/errors.ts";
import { systemClock } from "../../base/time/clock.ts";

/**
 * Does work of the engine that does no harm when it is begun again: requests may keep the engine so busy meanwhile
 * that it refuses, and a server may be away. Throws `SERVICE_UNAVAILABLE` when it is away for `outageMsMax`.
 */
export async function untilAdmitted<Result>(work: () => Promise<Result>): Promise<Result> {
  const startedAtMs = systemClock.monotonicMs();
  for (;;) {
    try {
      return await work();
    } catch (thrown) {
      const waitedMs = systemClock.monotonicMs() - startedAtMs;
      if (!(thrown instanceof AppError) || waitedMs > storeLimits.outageMsMax) throw thrown;
      // With a cause something is wrong, and asking all the time would add to it.
      await delay(
        thrown.cause === undefined ? storeLimits.mutationsPollMs : serverLimits.outageRetryMs,
      );
    }
  }
}
