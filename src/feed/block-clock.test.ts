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

test("a wrong clock is reported once, ahead or behind", () => {
  for (const [age, detail] of [
    [3600, "3600 s ahead of the newest blocks, or all of them arrive late"],
    [-11, "11 s behind the newest blocks"],
  ] as const) {
    const compared = compare([...twenty(age), ...twenty(age)]);
    assert.equal(compared.detail, detail);
    assert.equal(compared.ageMs, age * 1000);
    assert.deepEqual(compared.logged, [
      "system clock differs from the times of new blocks; check NTP",
    ]);
  }
});

test("normal arrival times, one late and one early block are no clock error", () => {
  const agrees = "agrees with the times of blocks";
  for (const age of [-10, 0, 2, 30]) assert.equal(compare(twenty(age)).detail, agrees);
  assert.equal(compare([...twenty(2), 500]).detail, agrees);
  assert.deepEqual(compare([...twenty(500).slice(1), 2]).logged, []);
});

test("too few blocks are not compared; a clock that is wrong again is reported again", () => {
  assert.equal(compare([500]).detail, "not compared with blocks yet");
  const { logged, detail } = compare([...twenty(500), 2]);
  assert.equal(logged.at(-1), "system clock agrees with the times of new blocks again");
  assert.equal(detail, "agrees with the times of blocks");
});
