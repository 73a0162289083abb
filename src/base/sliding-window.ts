/** The rate limit of a caller at one moment. */
export type LimitStatus = {
  readonly isAdmitted: boolean;
  /** Whether it was refused because the requests to other nodes are unknown. */
  readonly isUnavailable: boolean;
  /** The limit, in requests in any `windowMs`. */
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until the oldest counted request leaves the window; 0 when there is none. */
  readonly resetMs: number;
  /** When this was decided, in milliseconds of the monotonic clock or, when Redis decided, of Redis' clock. */
  readonly atMs: number;
};

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
  acquire(nowMs: number, part = this.limit): LimitStatus {
    this.#dropBefore(nowMs);
    if (this.#count >= part) return this.#status(false, nowMs, part);
    if (this.#count === this.#ring.length) this.#grow();
    this.#ring[(this.#oldest + this.#count) % this.#ring.length] = nowMs;
    this.#count += 1;
    return this.#status(true, nowMs, part);
  }

  /** Returns the status at `nowMs` without counting a request. */
  peek(nowMs: number, part = this.limit): LimitStatus {
    this.#dropBefore(nowMs);
    return this.#status(false, nowMs, part);
  }

  /** Returns how long after `nowMs` so many requests are admitted together; the whole limit for more than that. */
  waitMs(requests: number, nowMs: number): number {
    const excess = Math.min(this.#count, this.#count + requests - this.limit);
    if (excess <= 0) return 0;
    const last = this.#ring[(this.#oldest + excess - 1) % this.#ring.length] ?? 0;
    return Math.max(0, this.#windowMs - (nowMs - last));
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
