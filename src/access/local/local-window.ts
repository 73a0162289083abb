import type { RateWindow, Standing } from "../rate-window.ts";
import { type SlidingWindow, WindowTable } from "./sliding-window.ts";

/** The requests of one process. */
export class LocalWindow implements RateWindow {
  readonly #table: WindowTable;

  constructor(options: { windowMs: number; entriesMax: number }) {
    this.#table = new WindowTable(options);
  }

  take(caller: string, limit: number, nowMs: number): Standing {
    const window = this.#table.windowOf(caller, limit, nowMs);
    return standingOf(window, window.take(nowMs), nowMs);
  }

  look(caller: string, limit: number, nowMs: number): Standing {
    return standingOf(this.#table.windowOf(caller, limit, nowMs), false, nowMs);
  }

  forget(caller: string): void {
    this.#table.forget(caller);
  }
}

function standingOf(window: SlidingWindow, isAdmitted: boolean, nowMs: number): Standing {
  return {
    isAdmitted,
    isUnavailable: false,
    limit: window.limit,
    remaining: window.remaining(nowMs),
    resetMs: window.resetMs(nowMs),
    atMs: nowMs,
  };
}
