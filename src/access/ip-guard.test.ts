import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../../test/support/silent-log.ts";
import { AccessAudit } from "./access-audit.ts";
import type { IpBlock, IpBlocks } from "./ip-blocks.ts";
import { IpGuard } from "./ip-guard.ts";
import { LocalWindow } from "./local/local-window.ts";

const hourMs = 3_600_000;

function openGuard(failuresMax = 20) {
  let nowMs = 1_000_000;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, sleep: async () => undefined };
  const held = new Map<string, IpBlock>();
  const ipBlocks = {
    get: (bucket: string) => held.get(bucket) ?? null,
    put: (block: IpBlock) => void held.set(block.bucket, block),
  } as unknown as IpBlocks;
  const offenseWindow = new LocalWindow({ windowMs: 5 * 60_000, entriesMax: 100 });
  const access = { ipBlocks, offenseWindow, audit: new AccessAudit(silentLog) };
  const guard = new IpGuard({ access, clock, failuresMax });
  return {
    guard,
    advance: (ms: number) => {
      nowMs += ms;
    },
    fail: (times: number) => {
      for (let count = 0; count < times; count += 1) guard.record("ip", "failed_authentication");
    },
  };
}

test("each further IP block is twice as long as the last, up to a day", () => {
  const { guard, advance, fail } = openGuard();
  const minutes = [15, 30, 60, 120, 240, 480, 960, 1440, 1440];
  for (const expected of minutes) {
    fail(20);
    assert.equal(guard.blockedForMs("ip"), expected * 60_000);
    advance(expected * 60_000);
    assert.equal(guard.blockedForMs("ip"), 0);
  }
});

test("a block made while the wall clock was years ahead ends when the clock is corrected", () => {
  const { guard, advance, fail } = openGuard();
  advance(3 * 365 * 24 * hourMs);
  fail(20);
  advance(-3 * 365 * 24 * hourMs);
  assert.equal(guard.blockedForMs("ip"), 0);
  fail(20);
  assert.equal(guard.blockedForMs("ip"), 30 * 60_000);
});

test("after a day without a block, the next one lasts 15 minutes again", () => {
  const { guard, advance, fail } = openGuard();
  fail(20);
  advance(24 * hourMs + 15 * 60_000);
  fail(20);
  assert.equal(guard.blockedForMs("ip"), 15 * 60_000);
});

test("counts the failures of each IP separately, within five minutes", () => {
  const { guard, advance, fail } = openGuard();
  fail(19);
  advance(5 * 60_000);
  fail(19);
  guard.record("other", "failed_authentication");
  assert.equal(guard.blockedForMs("ip"), 0);
  fail(1);
  assert.ok(guard.blockedForMs("ip") > 0);
  assert.equal(guard.blockedForMs("other"), 0);
});

test("failures during a block neither extend it nor count toward the next one", () => {
  const { guard, advance, fail } = openGuard();
  fail(500);
  assert.equal(guard.blockedForMs("ip"), 15 * 60_000);
  advance(15 * 60_000);
  fail(19);
  assert.equal(guard.blockedForMs("ip"), 0);
});

test("a limit of 0 failures turns blocking off", () => {
  const { guard, fail } = openGuard(0);
  fail(5000);
  for (let count = 0; count < 5000; count += 1) guard.record("ip", "abuse");
  assert.equal(guard.blockedForMs("ip"), 0);
});
