import { type LimitStatus, SlidingWindow } from "../../base/sliding-window.ts";
import type { RateWindow } from "../rate-window.ts";

/**
 * The windows of all callers of one process. A window unused for `windowMs` is empty and is dropped, by two generations
 * rather than a scan. With more than `entriesMax` callers, the least recently used are dropped early.
 */
export class LocalWindow implements RateWindow {
  readonly #windowMs: number;
  readonly #entriesMax: number;
  #young = new Map<string, SlidingWindow>();
  #old = new Map<string, SlidingWindow>();
  #youngSinceMs = 0;

  constructor(options: { windowMs: number; entriesMax: number }) {
    this.#windowMs = options.windowMs;
    // Each of the two generations gets half of the bound.
    this.#entriesMax = Math.ceil(options.entriesMax / 2);
  }

  acquire(caller: string, limit: number, nowMs: number): LimitStatus {
    return this.getWindow(caller, limit, nowMs).acquire(nowMs);
  }

  peek(caller: string, limit: number, nowMs: number): LimitStatus {
    return this.getWindow(caller, limit, nowMs).peek(nowMs);
  }

  /** Returns the window of `caller`, or a new one with `limit`. */
  getWindow(caller: string, limit: number, nowMs: number): SlidingWindow {
    if (nowMs - this.#youngSinceMs >= this.#windowMs) this.#age(nowMs);
    const young = this.#young.get(caller);
    if (young !== undefined) return young;
    if (this.#young.size >= this.#entriesMax) this.#age(nowMs);
    const window = this.#old.get(caller) ?? new SlidingWindow(limit, this.#windowMs);
    this.#young.set(caller, window);
    return window;
  }

  forget(caller: string): void {
    this.#young.delete(caller);
    this.#old.delete(caller);
  }

  /** The number of windows in memory, at most `entriesMax` + 1. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  #age(nowMs: number): void {
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngSinceMs = nowMs;
  }
}
