import { setTimeout as delay } from "node:timers/promises";
import { serverLimits } from "../../base/config/limits.ts";
import { AppError } from "../../base/errors.ts";
import { systemClock } from "../../base/time/clock.ts";
import type { Coverage } from "../../chain/raw-log.ts";
import type { Engine } from "../engine/engine.ts";
import { MissingRowsError, readCoverage, verifyNewestCommits } from "../recovery/recover.ts";
import { readVerified } from "./verify-commits.ts";

/** How a start waits. */
export type WaitOptions = {
  /** Called with one sentence whenever the reason for waiting changes. */
  readonly onWaiting: (reason: string) => void;
  readonly signal?: AbortSignal | undefined;
};

/** Reads the coverage once all of its rows and candles are replicated. Waits and throws as `untilReplicated` does. */
export async function readReplicated(
  engine: Engine,
  options: WaitOptions,
): Promise<Coverage | null> {
  return untilReplicated(async () => {
    const coverage = await readCoverage(engine);
    await verifyNewestCommits(engine);
    const verified = await readVerified(engine);
    if (coverage?.last.number === verified?.last.number) return coverage;
    throw new MissingRowsError("the newest commit records count other trades than the candles");
  }, options);
}

/**
 * Repeats work of a start while it throws `MissingRowsError`, since replicas can be behind. Throws
 * `SERVICE_UNAVAILABLE` when rows are still missing after `waitMsMax`, and `AbortError` when `signal` is aborted.
 */
export async function untilReplicated<Result>(
  work: () => Promise<Result>,
  options: WaitOptions & { readonly waitMsMax?: number },
): Promise<Result> {
  const { waitMsMax = serverLimits.replicaWaitMsMax } = options;
  const startedAtMs = systemClock.monotonicMs();
  const getReason = (thrown: unknown): string | null => {
    if (!(thrown instanceof MissingRowsError)) return null;
    const waitedMs = systemClock.monotonicMs() - startedAtMs;
    if (waitedMs >= waitMsMax) throw stillMissing(thrown.missing, waitedMs);
    return `${thrown.missing}: replicas may be behind`;
  };
  return untilReady(work, { ...options, getReason });
}

/** Repeats work of a start while `getReason` returns a reason to wait for its error. Throws `AbortError` when aborted. */
export async function untilReady<Result>(
  work: () => Promise<Result>,
  options: WaitOptions & { readonly getReason: (thrown: unknown) => string | null },
): Promise<Result> {
  const { getReason, onWaiting, signal } = options;
  for (let waitingFor = ""; ; ) {
    try {
      return await work();
    } catch (thrown) {
      const reason = getReason(thrown);
      if (reason === null) throw thrown;
      if (reason !== waitingFor) onWaiting(reason);
      waitingFor = reason;
    }
    await delay(serverLimits.outageRetryMs, null, { signal });
  }
}

function stillMissing(missing: string, waitedMs: number): AppError {
  const cause = new Error(
    `${missing}, still after ${Math.round(waitedMs / 1000)} s: see what \`oddwire cluster check\` says of replicas; ` +
      "when none is behind, restore a backup or index again into an empty database",
  );
  return new AppError("SERVICE_UNAVAILABLE", { cause });
}
