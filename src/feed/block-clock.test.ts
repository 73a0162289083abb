import assert from "node:assert/strict";
import { test } from "node:test";
import pino from "pino";
import { BlockClock } from "./block-clock.ts";

const nowSeconds = 1_800_000_000;

/** Returns the sentence, the age and the logged messages after blocks of these ages in seconds. */
function compare(agesSeconds: readonly number[]) {
  const lines: { msg: string; seconds?: number }[] = [];
  const log = pino({}, { write: (line) => lines.push(JSON.parse(line) as { msg: string }) });
  const clock = new BlockClock({ nowMs: () => nowSeconds * 1000 }, log);
  for (const age of agesSeconds) clock.observe(nowSeconds - age);
  return { detail: clock.detail, ageMs: clock.ageMs, logged: lines.map(({ msg }) => msg) };
}

const twenty = (age: number): number[] => Array.from({ length: 20 }, () => age);

test("a clock that is off is named once, in both directions", () => {
  for (const [age, detail] of [
    [3600, "3600 s ahead of the newest blocks, or all of them arrive late"],
    [-11, "11 s behind the newest blocks"],
  ] as const) {
    const compared = compare([...twenty(age), ...twenty(age)]);
    assert.equal(compared.detail, detail);
    assert.equal(compared.ageMs, age * 1000);
    assert.deepEqual(compared.logged, [
      "the clock of this machine differs from the times of blocks",
    ]);
  }
});

test("usual ages, one late block and one early block say nothing about the clock", () => {
  const agrees = "agrees with the times of blocks";
  for (const age of [-10, 0, 2, 30]) assert.equal(compare(twenty(age)).detail, agrees);
  assert.equal(compare([...twenty(2), 500]).detail, agrees);
  assert.deepEqual(compare([...twenty(500).slice(1), 2]).logged, []);
});

test("fewer blocks are not compared, and a clock that is set right is named again", () => {
  assert.equal(compare([500]).detail, "not compared with blocks yet");
  const { logged, detail } = compare([...twenty(500), 2]);
  assert.equal(logged.at(-1), "the clock of this machine agrees with the times of blocks again");
  assert.equal(detail, "agrees with the times of blocks");
});
