import assert from "node:assert/strict";
import { test } from "node:test";
import { chainLimits } from "../base/limits.ts";
import { RangeSizer } from "./range-sizer.ts";

const small = 1_000;

test("R5: grows by a tenth when the range was used in full, up to the bound", () => {
  const sizer = new RangeSizer();
  assert.equal(sizer.blocks(0), 500);
  sizer.noteAnswer(499, small);
  assert.equal(sizer.blocks(0), 500, "not used in full");
  sizer.noteAnswer(500, small);
  assert.equal(sizer.blocks(0), 550);
  for (let round = 0; round < 100; round += 1) sizer.noteAnswer(sizer.blocks(0), small);
  assert.equal(sizer.blocks(0), chainLimits.rangeBlocksMax);
});

test("R5: stays when answers are large, halves when they are too large", () => {
  const sizer = new RangeSizer();
  sizer.noteAnswer(500, chainLimits.responseBytesGoal);
  assert.equal(sizer.blocks(0), 500);
  sizer.noteAnswer(500, chainLimits.responseBytesHalve);
  assert.equal(sizer.blocks(0), 250);
  for (let round = 0; round < 20; round += 1) sizer.halve(sizer.blocks(0));
  assert.equal(sizer.blocks(0), 1, "one block is the floor");
});

test("R5: a cap only tightens, and is forgotten after an hour", () => {
  const sizer = new RangeSizer();
  sizer.noteCap(100, { asked: 500, nowMs: 0 });
  sizer.noteAnswer(100, small);
  assert.equal(sizer.blocks(1), 100);
  sizer.noteCap(50, { asked: 100, nowMs: 2 });
  assert.equal(sizer.capBlocks(3), 50);
  sizer.noteCap(80, { asked: 90, nowMs: 3 });
  assert.equal(sizer.capBlocks(4), 50);
  assert.equal(sizer.capBlocks(3 + chainLimits.rangeCapKeptMs), null);
});

test("R5: a number that is no help halves", () => {
  const sizer = new RangeSizer();
  sizer.noteCap(1_000, { asked: 500, nowMs: 0 });
  assert.equal(sizer.blocks(0), 250);
  sizer.noteSuggestion(250, 250);
  assert.equal(sizer.blocks(0), 125);
  sizer.noteSuggestion(40, 125);
  assert.equal(sizer.blocks(0), 40);
});

test("R5: an unknown error halves once, until something was answered", () => {
  const sizer = new RangeSizer();
  assert(sizer.tryHalvingOnUnknown(500));
  assert(!sizer.tryHalvingOnUnknown(250));
  sizer.noteAnswer(250, small);
  assert(sizer.tryHalvingOnUnknown(275));
  assert(!new RangeSizer().tryHalvingOnUnknown(1));
});

test("a wrong answer halves, and the size stays for a while", () => {
  const sizer = new RangeSizer();
  sizer.noteWrong(500);
  for (let round = 0; round < 19; round += 1) sizer.noteAnswer(250, small);
  assert.equal(sizer.blocks(0), 250);
  for (let round = 0; round < 3; round += 1) sizer.noteAnswer(sizer.blocks(0), small);
  assert(sizer.blocks(0) > 250);
});
