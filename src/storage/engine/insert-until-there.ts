import { setTimeout as delay } from "node:timers/promises";
import { serverLimits, storeLimits } from "../../base/config/limits.ts";
import { AppError } from "../../base/errors.ts";
import { systemClock } from "../../base/time/clock.ts";
import type { Engine } from "./engine.ts";
import { untilAdmitted } from "./until-admitted.ts";

/**
 * Repeats `insert` until `isThere`. A server stores a token before its rows. If it is killed in between, it has no
 * rows and still ignores the token, so each attempt needs a new token. Replicated tables store a token and its rows
 * together. Rows that are missing there are only late, so the token stays the same. Throws `SERVICE_UNAVAILABLE`
 * after `outageMsMax`.
 */
export async function insertUntilThere(
  { kind }: Engine,
  insert: (attempt: number) => Promise<void>,
  isThere: () => Promise<boolean>,
): Promise<void> {
  const startedAtMs = systemClock.monotonicMs();
  for (let attempt = 1; ; attempt += 1) {
    await untilAdmitted(() => insert(kind === "cluster" ? 1 : attempt));
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

/** Returns the insert token of an attempt, counted from 1. */
export function getToken(name: string, attempt: number): string {
  return attempt === 1 ? name : `${name}:${attempt}`;
}
