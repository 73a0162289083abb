import { setTimeout as delay } from "node:timers/promises";
import { storeLimits } from "../base/config/limits.ts";
import { AppError } from "../base/errors.ts";

/**
 * Does work of the engine that does no harm when it is begun again: requests may keep the engine so
 * busy meanwhile that it refuses.
 */
export async function untilAdmitted(work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await work();
    } catch (thrown) {
      if (!(thrown instanceof AppError)) throw thrown;
      await delay(storeLimits.mutationsPollMs);
    }
  }
}
