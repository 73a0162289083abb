import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { ClusterClock } from "./cluster-clock.ts";

function openClock() {
  const own = { nowMs: 1_000_000, monotonicMs: 0 };
  const lines: { level: number; server: string; seconds?: number }[] = [];
  const log = pino({ level: "info" }, { write: (line) => lines.push(JSON.parse(line)) });
  const clock = new ClusterClock(
    { nowMs: () => own.nowMs, monotonicMs: () => own.monotonicMs, sleep: async () => {} },
    log,
  );
  return { own, clock, lines };
}

test("time comes from Redis, else from ClickHouse, else from the system clock", () => {
  const { own, clock } = openClock();
  assert.equal(clock.nowMs(), 1_000_000);
  clock.measure("ClickHouse", 1_020_000, own.monotonicMs);
  assert.equal(clock.nowMs(), 1_020_000);
  clock.measure("Redis", 1_010_000, own.monotonicMs);
  assert.equal(clock.nowMs(), 1_010_000);
  own.nowMs += 500;
  assert.equal(clock.nowMs(), 1_010_500);
});

test("half of the round trip is added, and a slow reading does not replace a faster one", () => {
  const { own, clock } = openClock();
  own.monotonicMs = 100;
  clock.measure("Redis", 1_000_000, 0);
  assert.equal(clock.nowMs(), 1_000_050);
  own.monotonicMs = 10_000;
  clock.measure("Redis", 1_000_000, 0);
  assert.equal(clock.nowMs(), 1_000_050);
});

test("a clock that is off is reported once, with its direction, and so is its correction", () => {
  const { own, clock, lines } = openClock();
  assert.equal(clock.detail, "not compared yet");
  for (let times = 0; times < 3; times += 1) clock.measure("Redis", own.nowMs + 8_000, 0);
  clock.measure("ClickHouse", own.nowMs - 30_000, 0);
  assert.deepEqual(
    lines.map(({ level, server, seconds }) => [level, server, seconds]),
    [
      [40, "Redis", 8],
      [40, "ClickHouse", -30],
    ],
  );
  assert.equal(clock.detail, "8.0 s behind Redis, 30.0 s ahead of ClickHouse");
  assert.equal(clock.differenceMs, 30_000);
  clock.measure("Redis", own.nowMs + 900, 0);
  assert.equal(lines.at(-1)?.level, 30);
  assert.equal(clock.detail, "agrees with Redis, 30.0 s ahead of ClickHouse");
});
