import assert from "node:assert/strict";
import { test } from "node:test";
import { chainLimits } from "../base/limits.ts";
import { RangeSizer } from "./range-sizer.ts";

const small = 1_000;
const start = chainLimits.rangeBlocksStart;

test("R5: grows by a tenth when the range was used in full, up to the bound", () => {
  const sizer = new RangeSizer();
  assert.equal(sizer.blocks(0), start);
  sizer.noteAnswer(start - 1, small);
  assert.equal(sizer.blocks(0), start, "not used in full");
  sizer.noteAnswer(start, small);
  assert.equal(sizer.blocks(0), Math.ceil(start * 1.1));
  for (let round = 0; round < 100; round += 1) sizer.noteAnswer(sizer.blocks(0), small);
  assert.equal(sizer.blocks(0), chainLimits.rangeBlocksMax);
});

test("R5: stays when answers are large, halves when they are too large", () => {
  const sizer = new RangeSizer();
  sizer.noteAnswer(start, chainLimits.responseBytesGoal);
  assert.equal(sizer.blocks(0), start);
  sizer.noteAnswer(start, chainLimits.responseBytesHalve);
  assert.equal(sizer.blocks(0), start / 2);
  for (let round = 0; round < 20; round += 1) sizer.halve(sizer.blocks(0));
  assert.equal(sizer.blocks(0), 1, "one block is the floor");
});

test("R5: a cap only tightens, and is forgotten after an hour", () => {
  const sizer = new RangeSizer();
  sizer.noteCap(40, { asked: start, nowMs: 0 });
  sizer.noteAnswer(40, small);
  assert.equal(sizer.blocks(1), 40);
  sizer.noteCap(20, { asked: 40, nowMs: 2 });
  assert.equal(sizer.capBlocks(3), 20);
  sizer.noteCap(32, { asked: 36, nowMs: 3 });
  assert.equal(sizer.capBlocks(4), 20);
  assert.equal(sizer.capBlocks(3 + chainLimits.capKeptMs), null);
});

test("R5: a number that is no help halves", () => {
  const sizer = new RangeSizer();
  sizer.noteCap(1_000, { asked: start, nowMs: 0 });
  assert.equal(sizer.blocks(0), start / 2);
  sizer.noteSuggestion(start / 2, start / 2);
  assert.equal(sizer.blocks(0), Math.floor(start / 4));
  sizer.noteSuggestion(4, Math.floor(start / 4));
  assert.equal(sizer.blocks(0), 4);
});

test("R5: an unknown error halves once, until something was answered", () => {
  const sizer = new RangeSizer();
  assert(sizer.tryHalvingOnUnknown(start));
  assert(!sizer.tryHalvingOnUnknown(start / 2));
  sizer.noteAnswer(start / 2, small);
  assert(sizer.tryHalvingOnUnknown(start / 2));
  assert(!new RangeSizer().tryHalvingOnUnknown(1));
});

test("R5: of ranges that an unknown error refused at the same time, all are asked for again", () => {
  const sizer = new RangeSizer();
  assert(sizer.tryHalvingOnUnknown(start));
  assert(sizer.tryHalvingOnUnknown(start));
  assert.equal(sizer.blocks(0), start / 2, "halved once");
});

test("a wrong answer halves, and the size stays for a while", () => {
  const sizer = new RangeSizer();
  sizer.noteWrong(start);
  for (let round = 0; round < 19; round += 1) sizer.noteAnswer(start / 2, small);
  assert.equal(sizer.blocks(0), start / 2);
  for (let round = 0; round < 3; round += 1) sizer.noteAnswer(sizer.blocks(0), small);
  assert(sizer.blocks(0) > start / 2);
});
