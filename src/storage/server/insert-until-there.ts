import { setTimeout as delay } from "node:timers/promises";
import { serverLimits, storeLimits } from "../../base/config/limits.ts";
import { AppError } from "../../base/errors.ts";
import { systemClock } from "../../base/time/clock.ts";
import { untilAdmitted } from "../engine/until-admitted.ts";

/**
 * Repeats an insert until what it inserts is there. A server notes a token before the rows of it, so one that was killed
 * in between takes neither the rows nor the same token again: another attempt needs another token. Where tables are
 * replicated, a token and its rows are one, and rows that are not there are only late: the token stays the same. Throws
 * `SERVICE_UNAVAILABLE` after `outageMsMax`.
 */
export async function insertUntilThere(options: {
  readonly isReplicated: boolean;
  readonly insert: (attempt: number) => Promise<void>;
  readonly isThere: () => Promise<boolean>;
}): Promise<void> {
  const { isReplicated, insert, isThere } = options;
  const startedAtMs = systemClock.monotonicMs();
  for (let attempt = 1; ; attempt += 1) {
    await untilAdmitted(() => insert(isReplicated ? 1 : attempt));
    if (await untilAdmitted(isThere)) return;
    const waitedMs = systemClock.monotonicMs() - startedAtMs;
    if (waitedMs > storeLimits.outageMsMax) {
      const cause = new Error(
        `rows that were inserted are not there after ${Math.round(waitedMs / 1000)} s: ` +
          "see what `oddwire cluster check` says about replicas",
      );
      throw new AppError("SERVICE_UNAVAILABLE", { cause });
    }
    await delay(serverLimits.replicaPollMs);
  }
}

/** The token of an attempt. */
export function tokenOf(name: string, attempt: number): string {
  return attempt === 1 ? name : `${name}:${attempt}`;
}
