import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../base/clock.ts";

/** Prices and trades, which others wait for meanwhile, are answered in less. */
const turnMs = 4;

/**
 * Does something step by step, and lets others have their turn whenever the steps since the last one
 * have taken some milliseconds. What the steps look at may change in between.
 */
export async function takeTurns(steps: Iterable<void>, clock: Clock): Promise<void> {
  let startedMs = clock.monotonicMs();
  for (const _ of steps) {
    if (clock.monotonicMs() - startedMs < turnMs) continue;
    await nextTurn();
    startedMs = clock.monotonicMs();
  }
}
