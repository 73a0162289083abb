import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../base/time/clock.ts";
import { SyncProgress, type SyncStatus } from "./sync-progress.ts";

const start: SyncStatus = { from: 1_000, indexed: 1_999, head: 11_999, fills: 0, events: 0 };

/** Opens a `SyncProgress` whose status and time the test sets. */
function scene(status: Partial<SyncStatus> = {}) {
  const now = { ...start, ...status };
  let atMs = 50_000;
  const clock = { ...systemClock, monotonicMs: () => atMs };
  const progress = new SyncProgress({ read: () => ({ ...now }), clock });
  const pass = (ms: number, change: Partial<SyncStatus>) => {
    atMs += ms;
    Object.assign(now, change);
    progress.measure();
  };
  return { progress, pass };
}

test("rates are computed from the last two measurements", () => {
  const { progress, pass } = scene();
  pass(0, {});
  assert.equal(progress.rates, null);
  pass(5_000, { indexed: 2_999, fills: 50_000, events: 60_000 });
  const rates = { blocksPerSecond: 200, fillsPerSecond: 10_000, eventsPerSecond: 12_000 };
  assert.deepEqual(progress.rates, rates);
  pass(2_000, { indexed: 3_000, fills: 50_001, events: 60_001 });
  assert.deepEqual(progress.rates, {
    blocksPerSecond: 0.5,
    fillsPerSecond: 0.5,
    eventsPerSecond: 0.5,
  });
});

test("a backfill has a range, a progress and an estimate of the time left", () => {
  const { progress, pass } = scene();
  assert.deepEqual(progress.backfill, {
    fromBlock: 1_000,
    indexedBlock: 1_999,
    toBlock: 11_999,
    progress: 1_000 / 11_000,
    rates: null,
    secondsLeft: null,
  });
  pass(0, {});
  pass(10_000, { indexed: 3_999 });
  assert.equal(progress.backfill?.secondsLeft, 40);
  pass(10_000, {});
  assert.equal(progress.backfill?.secondsLeft, null);
});

test("a process that follows the head has no backfill", () => {
  assert.equal(scene({ indexed: 11_900 }).progress.backfill, null);
  assert.notEqual(scene({ indexed: 11_899 }).progress.backfill, null);
  for (const unknown of [{ from: null }, { indexed: null }, { head: null }])
    assert.equal(scene(unknown).progress.backfill, null);
});

test("the rate is 0 after the first block and after a reorg", () => {
  const { progress, pass } = scene({ indexed: null });
  pass(0, {});
  pass(1_000, { indexed: 5_000 });
  assert.equal(progress.rates?.blocksPerSecond, 0);
  pass(1_000, { indexed: 4_990 });
  assert.equal(progress.rates?.blocksPerSecond, 0);
});
