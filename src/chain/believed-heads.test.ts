import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { believedHeadMax, nearMedian } from "./believed-heads.ts";

function endpoints(...heads: number[]) {
  return heads.map((number) => ({ view: { head: { number } } }));
}

function headsOf(found: ReturnType<typeof endpoints>): number[] {
  return found.map(({ view }) => view.head.number);
}

describe("believed heads", () => {
  test("reach 64 blocks above the median", () => {
    assert.equal(believedHeadMax(endpoints(1_000, 1_003, 90_000)), 1_067);
    assert.equal(believedHeadMax(endpoints(5, 1_000, 1_003)), 1_064);
    assert.equal(believedHeadMax(endpoints(1_000)), 1_064);
  });

  test("of two endpoints far apart include that of the one ahead", () => {
    assert.equal(believedHeadMax(endpoints(100, 9_000)), 9_064);
  });

  test("are none without a claim", () => {
    assert.equal(believedHeadMax([{ view: null }]), null);
    assert.equal(believedHeadMax([]), null);
  });
});

describe("voters on finality", () => {
  test("exclude one that is far ahead of two others, and one that is far behind", () => {
    assert.deepEqual(headsOf(nearMedian(endpoints(1_000, 90_000, 1_003))), [1_000, 1_003]);
    assert.deepEqual(headsOf(nearMedian(endpoints(1_000, 3, 1_003))), [1_000, 1_003]);
  });

  test("are all where those near the median are no majority", () => {
    assert.deepEqual(headsOf(nearMedian(endpoints(1_000, 90_000))), [1_000, 90_000]);
    assert.deepEqual(headsOf(nearMedian(endpoints(1, 1_000, 90_000))), [1, 1_000, 90_000]);
  });
});
