import { setTimeout as pause } from "node:timers/promises";
import type { Simulation, SimulationState } from "./simulation.ts";

const historyTakersMax = 3;
const liveTakersMax = 2;
const blockMs = 1000;

/** Plays the market's past as fast as possible, in blocks at equal intervals. */
export async function playHistory(
  simulation: Simulation,
  span: { fromSeconds: number; toSeconds: number; blocks: number },
  signal: AbortSignal,
): Promise<void> {
  const { fromSeconds, toSeconds, blocks } = span;
  for (let block = 1; block <= blocks && !signal.aborted; block += 1) {
    const seconds = fromSeconds + Math.floor(((toSeconds - fromSeconds) * block) / blocks);
    await simulation.step({ seconds, pastEndsAt: toSeconds }, historyTakersMax);
  }
}

/** Plays the market in real time, a block a second. Returns its state when it is stopped. */
export async function playLive(
  simulation: Simulation,
  { signal, onStep }: { signal: AbortSignal; onStep: () => void },
): Promise<SimulationState> {
  while (!signal.aborted) {
    const startedMs = Date.now();
    const seconds = Math.floor(startedMs / 1000);
    await simulation.step({ seconds, pastEndsAt: 0 }, liveTakersMax);
    simulation.openBooks(seconds);
    onStep();
    const leftMs = Math.max(startedMs + blockMs - Date.now(), 0);
    // `pause` fails only when the signal is aborted, which ends the loop.
    await pause(leftMs, undefined, { signal }).catch(() => undefined);
  }
  return simulation.state;
}
