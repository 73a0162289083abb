import { setTimeout as pause } from "node:timers/promises";

/** Asks `probe` until it answers something other than `null`; fails after `limitMs`. */
export async function waitFor<Found>(
  what: string,
  limitMs: number,
  probe: () => Promise<Found | null>,
): Promise<Found> {
  const deadline = performance.now() + limitMs;
  while (performance.now() < deadline) {
    const found = await probe();
    if (found !== null) return found;
    await pause(20);
  }
  throw new Error(`waited ${limitMs} ms in vain for ${what}`);
}
