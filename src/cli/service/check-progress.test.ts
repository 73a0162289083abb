import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../base/time/clock.ts";
import { CheckProgress } from "./check-progress.ts";

function openProgress(isTTY: boolean) {
  let nowMs = 0;
  let written = "";
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  const output = { isTTY, write: (text: string) => (written += text) };
  const progress = new CheckProgress({ range: { from: 101, to: 300 }, output, clock });
  const reachAt = (ms: number, block: number): string => {
    nowMs = ms;
    written = "";
    progress.reach(block);
    return written;
  };
  return { progress, reachAt, written: () => written };
}

test("without a terminal, a line every ten seconds shows the progress and the time left", () => {
  const { progress, reachAt, written } = openProgress(false);
  assert.equal(reachAt(9_999, 110), "");
  assert.equal(reachAt(10_000, 120), "20 of 200 blocks compared (10.0 %), 1 min 30 s left\n");
  assert.equal(reachAt(19_000, 130), "");
  assert.equal(reachAt(100_000, 300), "200 of 200 blocks compared (100.0 %), 0 s left\n");
  progress.clear();
  assert.match(written(), /^200 of 200/);
});

test("a terminal shows one line that is overwritten", () => {
  const { progress, reachAt, written } = openProgress(true);
  assert.equal(reachAt(500, 150), "\r\u001B[K50 of 200 blocks compared (25.0 %), 2 s left");
  progress.clear();
  assert.ok(written().endsWith("left\r\u001B[K"));
});
