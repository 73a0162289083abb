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

  /** Admits a request at `nowMs` if less than `part` of the limit is used, or refuses it without counting it. */
  take(nowMs: number, part = this.limit): LimitStatus {
    this.#dropBefore(nowMs);
    if (this.#count >= part) return this.#status(false, nowMs, part);
    if (this.#count === this.#ring.length) this.#grow();
    this.#ring[(this.#oldest + this.#count) % this.#ring.length] = nowMs;
    this.#count += 1;
    return this.#status(true, nowMs, part);
  }

  /** Returns the status at `nowMs` without counting a request. */
  look(nowMs: number, part = this.limit): LimitStatus {
    this.#dropBefore(nowMs);
    return this.#status(false, nowMs, part);
  }

  #status(isAdmitted: boolean, nowMs: number, part: number): LimitStatus {
    const remaining = Math.max(0, part - this.#count);
    const resetMs = this.#count === 0 && part > 0 ? 0 : this.#windowMs - this.#oldestAgeMs(nowMs);
    return { isAdmitted, isUnavailable: false, limit: this.limit, remaining, resetMs, atMs: nowMs };
  }

  /** How long ago the oldest counted request was admitted; 0 when there is none. */
  #oldestAgeMs(nowMs: number): number {
    return this.#count === 0 ? 0 : nowMs - (this.#ring[this.#oldest] ?? 0);
  }

  /** The window is (now - windowMs, now]: a request frees its slot exactly `windowMs` later. */
  #dropBefore(nowMs: number): void {
    while (this.#oldestAgeMs(nowMs) >= this.#windowMs) {
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
    return this.windowOf(caller, limit, nowMs).take(nowMs);
  }

  look(caller: string, limit: number, nowMs: number): LimitStatus {
    return this.windowOf(caller, limit, nowMs).look(nowMs);
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
