import { setTimeout as pause } from "node:timers/promises";

/**
 * The longest that a test waits for anything; only a failure takes as long. A busy machine can take a hundred times as
 * long as an idle one.
 */
export const waitMsMax = 300_000;

/** Calls `probe` until it returns something other than `null`; fails after `waitMsMax`. */
export async function waitFor<Found>(
  what: string,
  probe: () => Promise<Found | null>,
): Promise<Found> {
  const deadline = performance.now() + waitMsMax;
  while (performance.now() < deadline) {
    const found = await probe();
    if (found !== null) return found;
    await pause(40);
  }
  throw new Error(`waited ${waitMsMax} ms in vain for ${what}`);
}
