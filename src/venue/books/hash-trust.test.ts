import assert from "node:assert/strict";
import { test } from "node:test";
import { venueLimits } from "../../base/config/venue-limits.ts";
import { HashTrust } from "./hash-trust.ts";

const rounds = Array.from({ length: 10 * venueLimits.bookFalseAlarmsMax }, (_, index) => index);

test("false alarms of one kind of book do not end the proofs of other kinds", () => {
  const trust = new HashTrust();
  for (const round of rounds) {
    trust.recordProven("v1");
    trust.recordFalseAlarm("v2", `token ${round % 3}`);
  }
  assert.deepEqual(trust.metrics, {
    hash_check_enabled: { v1: 1, v2: 0 },
    hashes_proven: { v1: rounds.length },
    hash_false_positives: { v2: rounds.length },
  });
  trust.recordProven("v2");
  assert.equal(trust.isUsable("v2"), true);
});

test("one altered book does not end the proofs of a kind that was proven", () => {
  const trust = new HashTrust();
  trust.recordProven("v2");
  for (const _ of rounds) trust.recordFalseAlarm("v2", "altered");
  assert.equal(trust.isUsable("v2"), true);
  for (const round of rounds) trust.recordFalseAlarm("v2", `token ${round}`);
  assert.equal(trust.isUsable("v2"), false);
});
