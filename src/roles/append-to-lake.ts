import { toError } from "../base/errors.ts";
import { systemClock } from "../base/time/clock.ts";
import { LakeError } from "../lake/lake-error.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import type { MarketState } from "../views/markets/market-state.ts";
import { exportFacts } from "./export-facts.ts";
import type { RoleStart } from "./open-parts.ts";

/** How often it is checked whether a day has become final. */
const checkMs = 5_000;
/** The wait after a failure, such as a full disk. */
const retryMs = 60_000;
const daySeconds = 86_400;

/** Appends each day to the lake of `ODDWIRE_LAKE_DIR` once it is final. A failure is logged and tried again. */
export function appendToLake(
  start: RoleStart,
  { facts, state }: { readonly facts: IndexedFacts; readonly state: MarketState },
): void {
  const { config, log, life } = start;
  const { lakeDir: folder } = config;
  if (folder === null) return;
  const abort = new AbortController();
  const { signal } = abort;
  const append = async (): Promise<void> => {
    const manifest = await exportFacts(start, {
      folder,
      facts,
      state,
      signal,
      onDay: (day) => log.info(day, "appended a day to the lake"),
    });
    log.debug({ to_block: manifest.last_block.number }, "lake is up to date");
  };
  // A day that could not be appended for a reason that stays is not tried again before the next one.
  const tryAppend = async (): Promise<boolean> => {
    try {
      await append();
      return true;
    } catch (thrown) {
      const err = toError(thrown);
      if (err instanceof LakeError)
        log.info(
          { reason: err.message },
          "nothing appended to the lake; next attempt after the next day",
        );
      else if (!signal.aborted) log.error({ err }, "lake could not be written; retrying");
      return err instanceof LakeError;
    }
  };
  const run = async (): Promise<void> => {
    let dayDone = 0;
    while (!signal.aborted) {
      const day = Math.floor((facts.coverage?.last.timestamp ?? 0) / daySeconds);
      const isDone = day <= dayDone || (await tryAppend());
      if (isDone) dayDone = day;
      await systemClock.sleep(isDone ? checkMs : retryMs, signal).catch(() => {});
    }
  };
  const running = run();
  life.onClose(async () => {
    abort.abort();
    await running;
  });
}
