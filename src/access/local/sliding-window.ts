import type { LimitStatus, RateWindow } from "../rate-window.ts";

/**
 * A sliding window that never admits too many requests and never too few (rule R12). It keeps the time of every
 * admitted request, by a monotonic clock, in a ring that grows as needed. A refused request leaves no trace.
 */
export class SlidingWindow {
  readonly limit: number;
  readonly #windowMs: number;
  #ring: Float64Array;
  #oldest = 0;
  #count = 0;

  constructor(limit: number, windowMs: number) {
    this.limit = limit;
    this.#windowMs = windowMs;
    // Most callers send a few requests a minute, so 8 slots suffice at first.
    this.#ring = new Float64Array(Math.min(limit, 8));
  }

  /** Admits a request at `nowMs`, or refuses it without counting it. */
  take(nowMs: number): boolean {
    this.#dropBefore(nowMs);
    if (this.#count >= this.limit) return false;
    if (this.#count === this.#ring.length) this.#grow();
    this.#ring[(this.#oldest + this.#count) % this.#ring.length] = nowMs;
    this.#count += 1;
    return true;
  }

  /** Returns the status at `nowMs`, after a request was admitted or refused. */
  status(isAdmitted: boolean, nowMs: number): LimitStatus {
    const [remaining, resetMs] = [this.remaining(nowMs), this.resetMs(nowMs)];
    return { isAdmitted, isUnavailable: false, limit: this.limit, remaining, resetMs, atMs: nowMs };
  }

  /** Returns how many more requests would be admitted at `nowMs`. */
  remaining(nowMs: number): number {
    this.#dropBefore(nowMs);
    return this.limit - this.#count;
  }

  /** Returns the milliseconds until the oldest admitted request leaves the window; 0 when the window is empty. */
  resetMs(nowMs: number): number {
    this.#dropBefore(nowMs);
    // This order avoids a rounding error: right after a request the result is exactly `windowMs`, not more.
    return this.#count === 0 ? 0 : this.#windowMs - (nowMs - (this.#ring[this.#oldest] ?? 0));
  }

  /** The window is (now - windowMs, now]: a request frees its slot exactly `windowMs` later. */
  #dropBefore(nowMs: number): void {
    while (this.#count > 0 && nowMs - (this.#ring[this.#oldest] ?? 0) >= this.#windowMs) {
      this.#oldest = (this.#oldest + 1) % this.#ring.length;
      this.#count -= 1;
    }
  }

  #grow(): void {
    const ring = new Float64Array(Math.min(this.limit, this.#ring.length * 2));
    for (let index = 0; index < this.#count; index += 1)
      ring[index] = this.#ring[(this.#oldest + index) % this.#ring.length] ?? 0;
    this.#ring = ring;
    this.#oldest = 0;
  }
}

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

  take(caller: string, limit: number, nowMs: number): LimitStatus {
    const window = this.windowOf(caller, limit, nowMs);
    return window.status(window.take(nowMs), nowMs);
  }

  look(caller: string, limit: number, nowMs: number): LimitStatus {
    return this.windowOf(caller, limit, nowMs).status(false, nowMs);
  }

  /** Returns the window of `caller`, or a new one with `limit`. */
  windowOf(caller: string, limit: number, nowMs: number): SlidingWindow {
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
