type Taken = { readonly atMs: number; readonly calls: number };

/** A second, and a margin: a call may reach the endpoint faster than those before it. */
const windowMs = 1_050;

/** Keeps every trailing second, and a little more, to a number of calls, however they are bundled into requests. */
export class CallWindow {
  readonly #callsMax: number;
  /** In order of time; what is older than the window before the newest does not count any more. */
  #taken: Taken[] = [];

  /** At least 1. */
  constructor(callsMax: number) {
    this.#callsMax = callsMax;
  }

  /** How long a request of so many calls waits; one of more than a second may hold gets a second of its own. */
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

  /** Takes the place at `atMs`, which is not before any taken already. */
  take(calls: number, atMs: number): void {
    this.#taken = this.#taken.filter((taken) => taken.atMs > atMs - windowMs);
    this.#taken.push({ atMs, calls });
  }
}
