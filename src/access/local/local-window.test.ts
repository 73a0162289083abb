import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { SlidingWindow } from "../../base/sliding-window.ts";
import { LocalWindow } from "./local-window.ts";

/** The rule in its simplest form: a list of the admission times in (now - windowMs, now]. */
class NaiveWindow {
  readonly #limit: number;
  readonly #windowMs: number;
  #admitted: number[] = [];

  constructor(limit: number, windowMs: number) {
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  acquire(nowMs: number): boolean {
    this.#admitted = this.#admitted.filter((timeMs) => timeMs > nowMs - this.#windowMs);
    if (this.#admitted.length >= this.#limit) return false;
    this.#admitted.push(nowMs);
    return true;
  }

  remaining(): number {
    return this.#limit - this.#admitted.length;
  }
}

const windowMs = 1000;
/** Steps that often land exactly on the edge of the window. */
const steps = fc.array(fc.oneof(fc.constantFrom(0, 1, 499, 500, 999, 1000, 1001), fc.nat(400)), {
  maxLength: 300,
});

test("R12: the window admits and refuses exactly like a naive list of admission times", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), steps, (limit, waits) => {
      const window = new SlidingWindow(limit, windowMs);
      const naive = new NaiveWindow(limit, windowMs);
      let nowMs = 0;
      for (const wait of waits) {
        nowMs += wait;
        assert.equal(window.acquire(nowMs).isAdmitted, naive.acquire(nowMs));
        assert.equal(window.peek(nowMs).remaining, naive.remaining());
      }
    }),
    { numRuns: 300 },
  );
});

test("R12: no window that ends at any moment admits more than the limit", () => {
  const window = new SlidingWindow(1000, 60_000);
  const bursts = [0, ...Array.from({ length: 999 }, () => 59_900)];
  for (const timeMs of bursts) assert.equal(window.acquire(timeMs).isAdmitted, true);
  const late = Array.from({ length: 1000 }, () => window.acquire(60_001)).filter(
    ({ isAdmitted }) => isAdmitted,
  ).length;
  assert.equal(late, 1);
});

test("a refused request does not count, and resetMs is the time until the next admission", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), steps, (limit, waits) => {
      const window = new SlidingWindow(limit, windowMs);
      let nowMs = 0;
      for (const wait of waits) {
        nowMs += wait;
        const { isAdmitted, resetMs } = window.acquire(nowMs);
        if (isAdmitted) continue;
        assert.ok(resetMs > 0 && resetMs <= windowMs);
        assert.equal(window.acquire(nowMs + resetMs - 1).isAdmitted, false);
        nowMs += resetMs;
        assert.equal(window.acquire(nowMs).isAdmitted, true);
      }
    }),
  );
});

test("resetMs of an empty window is 0", () => {
  const window = new SlidingWindow(10, windowMs);
  assert.equal(window.peek(0).resetMs, 0);
  assert.equal(window.acquire(0).resetMs, windowMs);
  assert.equal(window.peek(0).resetMs, windowMs);
  const { resetMs, remaining } = window.peek(windowMs);
  assert.deepEqual([resetMs, remaining], [0, 10]);
});

test("a table within its bound never drops a request that still counts", () => {
  const calls = fc.array(
    fc.tuple(fc.integer({ min: 0, max: 4 }), fc.constantFrom(0, 1, 300, 1000)),
    {
      maxLength: 200,
    },
  );
  fc.assert(
    fc.property(calls, (sequence) => {
      const table = new LocalWindow({ windowMs, entriesMax: 10 });
      const naive = Array.from({ length: 5 }, () => new NaiveWindow(3, windowMs));
      let nowMs = 0;
      for (const [caller, wait] of sequence) {
        nowMs += wait;
        const taken = table.getWindow(`caller ${caller}`, 3, nowMs).acquire(nowMs);
        assert.equal(taken.isAdmitted, naive[caller]?.acquire(nowMs));
      }
    }),
  );
});

test("a table never holds more windows than its bound, and keeps the windows used last", () => {
  const table = new LocalWindow({ windowMs, entriesMax: 100 });
  for (let caller = 0; caller < 10_000; caller += 1) {
    table.getWindow(`caller ${caller}`, 3, 0).acquire(0);
    assert.ok(table.size <= 100);
  }
  const busy = table.getWindow("busy", 1, 0);
  busy.acquire(0);
  table.getWindow("other", 1, 0);
  assert.equal(table.getWindow("busy", 1, 0), busy);
});
