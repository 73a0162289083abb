import assert from "node:assert/strict";
import { test } from "node:test";
import { webLimits } from "../../base/config/limits.ts";
import { systemClock } from "../../base/time/clock.ts";
import { ListSnapshots } from "./list-snapshots.ts";

const { listSnapshotBytesMax, listSnapshotMaxAgeMs } = webLimits;

test("lists are evicted when they have too many bytes or are too old, the newest only for its age", () => {
  let nowMs = 0;
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  const released: string[] = [];
  const getList = (called: string, byteLength: number) => {
    return { called, byteLength, release: () => released.push(called) };
  };
  const snapshots = new ListSnapshots<ReturnType<typeof getList>>(clock);
  const first = snapshots.put(getList("first", listSnapshotBytesMax));
  assert.equal(snapshots.get(first)?.called, "first");
  const second = snapshots.put(getList("second", listSnapshotBytesMax + 1));
  assert.equal(snapshots.get(first), null);
  assert.equal(snapshots.get(second)?.called, "second");
  assert.deepEqual(released, ["first"]);
  nowMs = listSnapshotMaxAgeMs + 1;
  assert.equal(snapshots.get(second), null);
  assert.deepEqual(released, ["first", "second"]);
});
