import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { propertySettings } from "../../test/support/property-settings.ts";
import { SlidingWindow } from "./sliding-window.ts";

const anyRequests = fc.array(
  fc.record({ pauseMs: fc.oneof(fc.constant(0), fc.nat(300), fc.nat(3_000)), calls: fc.nat(6) }),
  { maxLength: 60 },
);

test("R6: no trailing window has more calls than allowed, and no request waits without need", () => {
  fc.assert(
    fc.property(anyRequests, fc.integer({ min: 6, max: 12 }), (requests, callsMax) => {
      const window = new SlidingWindow(callsMax, 1_050);
      const sent: { atMs: number; calls: number }[] = [];
      const held = (fromMs: number, toMs: number) =>
        sent
          .filter(({ atMs }) => atMs > fromMs && atMs <= toMs)
          .reduce((sum, { calls }) => sum + calls, 0);
      let nowMs = 0;
      for (const { pauseMs, calls } of requests) {
        nowMs += pauseMs;
        const waitMs = window.waitMs(calls, nowMs);
        const atMs = nowMs + waitMs;
        for (let call = 0; call < calls; call += 1) window.acquire(atMs);
        nowMs = atMs;
        assert(waitMs === 0 || held(atMs - 1_051, atMs - 1) + calls > callsMax);
        sent.push({ atMs, calls });
        assert(held(atMs - 1_050, atMs) <= callsMax);
      }
    }),
    propertySettings(300),
  );
});

test("a request with more calls than the limit gets a second for itself", () => {
  const window = new SlidingWindow(5, 1_050);
  window.acquire(0);
  assert.equal(window.waitMs(9, 10), 1_040);
});
