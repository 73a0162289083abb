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

  test("of two endpoints that are far apart include the higher one", () => {
    assert.equal(believedHeadMax(endpoints(100, 9_000)), 9_064);
  });

  test("do not exist when no endpoint has reported a head", () => {
    assert.equal(believedHeadMax([{ view: null }]), null);
    assert.equal(believedHeadMax([]), null);
  });
});

describe("voters on finality", () => {
  test("exclude an endpoint that is far ahead of two others, or far behind them", () => {
    assert.deepEqual(headsOf(nearMedian(endpoints(1_000, 90_000, 1_003))), [1_000, 1_003]);
    assert.deepEqual(headsOf(nearMedian(endpoints(1_000, 3, 1_003))), [1_000, 1_003]);
  });

  test("are all endpoints when those near the median are not a majority", () => {
    assert.deepEqual(headsOf(nearMedian(endpoints(1_000, 90_000))), [1_000, 90_000]);
    assert.deepEqual(headsOf(nearMedian(endpoints(1, 1_000, 90_000))), [1, 1_000, 90_000]);
  });
});
