import assert from "node:assert/strict";
import { test } from "node:test";
import { chainLimits } from "../../base/config/limits.ts";
import type { BlockRange } from "../raw-log.ts";
import { RangeSizer } from "./range-sizer.ts";

const small = 1_000;
const start = chainLimits.rangeBlocksStart;

function getRange(from: number, blocks: number): BlockRange {
  return { from, to: from + blocks - 1 };
}

test("R5: ranges grow by a tenth after an answer for a full range, up to the maximum", () => {
  const sizer = new RangeSizer();
  assert.equal(sizer.blocks(0), start);
  sizer.recordAnswer(getRange(0, start - 1), small);
  assert.equal(sizer.blocks(0), start, "not used in full");
  sizer.recordAnswer(getRange(0, start), small);
  assert.equal(sizer.blocks(0), Math.ceil(start * 1.1));
  for (let round = 0; round < 100; round += 1)
    sizer.recordAnswer(getRange(0, sizer.blocks(0)), small);
  assert.equal(sizer.blocks(0), chainLimits.rangeBlocksMax);
});

test("R5: ranges stay the same when answers are large, and halve when they are too large", () => {
  const sizer = new RangeSizer();
  sizer.recordAnswer(getRange(0, start), chainLimits.responseBytesGoal);
  assert.equal(sizer.blocks(0), start);
  sizer.recordAnswer(getRange(0, start), chainLimits.responseBytesHalve);
  assert.equal(sizer.blocks(0), start / 2);
  for (let round = 0; round < 20; round += 1) sizer.halve(sizer.blocks(0));
  assert.equal(sizer.blocks(0), 1, "one block is the floor");
});

test("R5: a cap only becomes smaller, and expires after an hour", () => {
  const sizer = new RangeSizer();
  sizer.recordCap(40, { requested: start, nowMs: 0 });
  sizer.recordAnswer(getRange(0, 40), small);
  assert.equal(sizer.blocks(1), 40);
  sizer.recordCap(20, { requested: 40, nowMs: 2 });
  assert.equal(sizer.capBlocks(3), 20);
  sizer.recordCap(32, { requested: 36, nowMs: 3 });
  assert.equal(sizer.capBlocks(4), 20);
  assert.equal(sizer.capBlocks(3 + chainLimits.capKeptMs), null);
});

test("R5: a cap that is not below the refused size halves the range", () => {
  const sizer = new RangeSizer();
  sizer.recordCap(1_000, { requested: start, nowMs: 0 });
  assert.equal(sizer.blocks(0), start / 2);
  sizer.recordCap(start / 2, { requested: start / 2, nowMs: 0 });
  assert.equal(sizer.blocks(0), Math.floor(start / 4));
});

/** Asks for the range at `from` until the request is for at most `blocksMax` blocks. Returns the number of failures. */
function play(sizer: RangeSizer, from: number, blocksMax: number): number {
  for (let failures = 0; ; failures += 1) {
    const range = getRange(from, sizer.blocksFrom(from, 0));
    if (range.to < from + blocksMax) {
      sizer.recordAnswer(range, small);
      return failures;
    }
    sizer.recordFailure(range);
  }
}

test("R5: a range that failed twice is requested again in full, and does not affect other ranges", () => {
  const sizer = new RangeSizer();
  for (let from = 0; from < 1_000; from += 1) {
    sizer.recordFailure(getRange(from, start));
    sizer.recordFailure(getRange(from, start));
    assert.equal(sizer.blocksFrom(from, 0), start);
  }
  assert.equal(sizer.blocks(0), start);
});

test("R5: a range that keeps failing is halved, and the next one has the size that worked before", () => {
  const sizer = new RangeSizer();
  for (let from = 0; from < 100; from += 2) {
    assert.equal(play(sizer, from, start / 2), 3);
    assert.equal(sizer.blocksFrom(from + 1, 0), start);
    sizer.recordAnswer(getRange(from + 1, start - 1), small);
  }
});

test("R5: ranges that fail at the same time are halved without an effect on others", () => {
  const sizer = new RangeSizer();
  for (let failure = 0; failure < 3; failure += 1) {
    for (let from = 0; from < 6; from += 1) {
      sizer.recordFailure(getRange(from, sizer.blocksFrom(from, 0)));
    }
  }
  for (let from = 0; from < 6; from += 1) assert.equal(play(sizer, from, start / 2), 0);
  assert.equal(sizer.blocks(0), start);
});

test("R5: a size that failed three times in a row is retried after 20 successes", () => {
  const sizer = new RangeSizer();
  for (let from = 0; from < 3; from += 1) assert(play(sizer, from, start / 2) > 0);
  assert.equal(sizer.blocks(0), start / 2);
  for (let from = 3; from < 23; from += 1) {
    assert.equal(sizer.blocks(0), start / 2);
    assert.equal(play(sizer, from, start), 0);
  }
  assert.equal(play(sizer, 23, start), 0);
  assert(sizer.blocks(0) > start / 2);
});

test("R5: an error that can be about size halves the range immediately, down to one block", () => {
  const sizer = new RangeSizer();
  sizer.shrink(getRange(7, start));
  assert.equal(sizer.blocksFrom(7, 0), start / 2);
  for (let round = 0; round < 10; round += 1) {
    sizer.shrink(getRange(7, sizer.blocksFrom(7, 0)));
  }
  assert.equal(sizer.blocksFrom(7, 0), 1);
  assert.equal(sizer.blocks(0), start);
});
