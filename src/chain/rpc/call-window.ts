type Taken = { readonly atMs: number; readonly calls: number };

/** One second and a margin, because a call can reach the endpoint faster than earlier ones. */
const windowMs = 1_050;

/** Limits the number of calls in every trailing second, and a little more, however they are batched into requests. */
export class CallWindow {
  readonly #callsMax: number;
  /** In order of time. Entries older than one window before the newest no longer count. */
  #taken: Taken[] = [];

  /** `callsMax` is at least 1. */
  constructor(callsMax: number) {
    this.#callsMax = callsMax;
  }

  /** Returns how long a request of so many calls must wait. A request above the limit waits for an empty window. */
  waitMs(calls: number, nowMs: number): number {
    let startMs = Math.max(nowMs, this.#taken.at(-1)?.atMs ?? nowMs);
    const recent = this.#taken.filter(({ atMs }) => atMs > startMs - windowMs);
    let count = recent.reduce((sum, taken) => sum + taken.calls, 0);
    for (const taken of recent) {
      if (count + calls <= this.#callsMax) break;
      startMs = taken.atMs + windowMs;
      count -= taken.calls;
    }
    return startMs - nowMs;
  }

  /** Counts a request at `atMs`, which must not be before an earlier one. */
  take(calls: number, atMs: number): void {
    this.#taken = this.#taken.filter((taken) => taken.atMs > atMs - windowMs);
    this.#taken.push({ atMs, calls });
  }
}
