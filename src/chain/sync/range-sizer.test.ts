import assert from "node:assert/strict";
import { test } from "node:test";
import { chainLimits } from "../../base/config/limits.ts";
import type { BlockRange } from "../raw-log.ts";
import { RangeSizer } from "./range-sizer.ts";

const small = 1_000;
const start = chainLimits.rangeBlocksStart;

function rangeOf(from: number, blocks: number): BlockRange {
  return { from, to: from + blocks - 1 };
}

test("R5: ranges grow by a tenth after an answer for a full range, up to the maximum", () => {
  const sizer = new RangeSizer();
  assert.equal(sizer.blocks(0), start);
  sizer.noteAnswer(rangeOf(0, start - 1), small);
  assert.equal(sizer.blocks(0), start, "not used in full");
  sizer.noteAnswer(rangeOf(0, start), small);
  assert.equal(sizer.blocks(0), Math.ceil(start * 1.1));
  for (let round = 0; round < 100; round += 1) sizer.noteAnswer(rangeOf(0, sizer.blocks(0)), small);
  assert.equal(sizer.blocks(0), chainLimits.rangeBlocksMax);
});

test("R5: ranges stay the same when answers are large, and halve when they are too large", () => {
  const sizer = new RangeSizer();
  sizer.noteAnswer(rangeOf(0, start), chainLimits.responseBytesGoal);
  assert.equal(sizer.blocks(0), start);
  sizer.noteAnswer(rangeOf(0, start), chainLimits.responseBytesHalve);
  assert.equal(sizer.blocks(0), start / 2);
  for (let round = 0; round < 20; round += 1) sizer.halve(sizer.blocks(0));
  assert.equal(sizer.blocks(0), 1, "one block is the floor");
});

test("R5: a cap only becomes smaller, and expires after an hour", () => {
  const sizer = new RangeSizer();
  sizer.noteCap(40, { asked: start, nowMs: 0 });
  sizer.noteAnswer(rangeOf(0, 40), small);
  assert.equal(sizer.blocks(1), 40);
  sizer.noteCap(20, { asked: 40, nowMs: 2 });
  assert.equal(sizer.capBlocks(3), 20);
  sizer.noteCap(32, { asked: 36, nowMs: 3 });
  assert.equal(sizer.capBlocks(4), 20);
  assert.equal(sizer.capBlocks(3 + chainLimits.capKeptMs), null);
});

test("R5: a cap that is not below the refused size halves the range", () => {
  const sizer = new RangeSizer();
  sizer.noteCap(1_000, { asked: start, nowMs: 0 });
  assert.equal(sizer.blocks(0), start / 2);
  sizer.noteCap(start / 2, { asked: start / 2, nowMs: 0 });
  assert.equal(sizer.blocks(0), Math.floor(start / 4));
});

/** Asks for the range at `from` until the request is for at most `blocksMax` blocks. Returns the number of failures. */
function play(sizer: RangeSizer, from: number, blocksMax: number): number {
  for (let failures = 0; ; failures += 1) {
    const range = rangeOf(from, sizer.blocksFrom(from, 0));
    if (range.to < from + blocksMax) {
      sizer.noteAnswer(range, small);
      return failures;
    }
    sizer.noteFailure(range);
  }
}

test("R5: a range that failed twice is requested again in full, and does not affect other ranges", () => {
  const sizer = new RangeSizer();
  for (let from = 0; from < 1_000; from += 1) {
    sizer.noteFailure(rangeOf(from, start));
    sizer.noteFailure(rangeOf(from, start));
    assert.equal(sizer.blocksFrom(from, 0), start);
  }
  assert.equal(sizer.blocks(0), start);
});

test("R5: a range that keeps failing is halved, and the next one has the size that worked before", () => {
  const sizer = new RangeSizer();
  for (let from = 0; from < 100; from += 2) {
    assert.equal(play(sizer, from, start / 2), 3);
    assert.equal(sizer.blocksFrom(from + 1, 0), start);
    sizer.noteAnswer(rangeOf(from + 1, start - 1), small);
  }
});

test("R5: ranges that fail at the same time are halved without an effect on others", () => {
  const sizer = new RangeSizer();
  for (let failure = 0; failure < 3; failure += 1) {
    for (let from = 0; from < 6; from += 1) {
      sizer.noteFailure(rangeOf(from, sizer.blocksFrom(from, 0)));
    }
  }
  for (let from = 0; from < 6; from += 1) assert.equal(play(sizer, from, start / 2), 0);
  assert.equal(sizer.blocks(0), start);
});

test("R5: a size that fails for three ranges in a row is not tried again for 20 answers", () => {
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
  sizer.shrink(rangeOf(7, start));
  assert.equal(sizer.blocksFrom(7, 0), start / 2);
  for (let round = 0; round < 10; round += 1) {
    sizer.shrink(rangeOf(7, sizer.blocksFrom(7, 0)));
  }
  assert.equal(sizer.blocksFrom(7, 0), 1);
  assert.equal(sizer.blocks(0), start);
});
