import { setImmediate as nextTurn } from "node:timers/promises";
import { systemClock } from "../../base/clock.ts";
import { webLimits } from "../../base/limits.ts";

/** Writes rows one by one; whoever else waits has a turn every `exportTurnMs`. */
export async function writeRows<Item>(
  items: readonly Item[],
  write: (item: Item) => string,
): Promise<readonly string[]> {
  const lines: string[] = [];
  // What made the items was a turn of its own.
  let turnEndsAtMs = 0;
  for (const item of items) {
    if (systemClock.monotonicMs() >= turnEndsAtMs) {
      await nextTurn();
      turnEndsAtMs = systemClock.monotonicMs() + webLimits.exportTurnMs;
    }
    lines.push(write(item));
  }
  return lines;
}
