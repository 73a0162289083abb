/** R7: the audit repairs corrupt ranges, keeps its budget, and does not get stuck at a range that cannot be read. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import type { Hash } from "../../src/base/ids.ts";
import { openLog } from "../../src/base/log.ts";
import type { Clock } from "../../src/base/time/clock.ts";
import { AuditLog } from "../../src/feed/audit-log.ts";
import { Auditor } from "../../src/feed/auditor.ts";
import type { FactsReading, FactsRequest, NoReading } from "../../src/feed/reread-facts.ts";
import { encodeFacts } from "../../src/storage/codec/encode-facts.ts";
import { summarizeLines, toLines } from "../../src/storage/recovery/fact-fingerprint.ts";
import { appendFacts } from "../support/append-facts.ts";
import { assertTablesHold } from "../support/assert-tables-hold.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { testSeed } from "../support/property-settings.ts";
import { getFacts } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";
import { waitFor } from "../support/wait-for.ts";

const plans = fc.sample(anyBlockPlan(), { seed: testSeed, numRuns: 4 });
const facts = getFacts(buildChain(plans));
const first = facts[0]?.number ?? 0;
const last = { number: first + 799, hash: `0x${"9".repeat(64)}` as Hash, timestamp: 1_900_000_000 };
const hours = 2;

/** A clock whose sleeps advance its time and end in the next turn of the event loop. */
function hastyClock(): Clock {
  let now = 0;
  return {
    nowMs: () => 1_900_000_000_000 + now,
    monotonicMs: () => now,
    sleep: async (ms, signal) => {
      now += ms;
      await yieldToEventLoop(undefined, { signal });
    },
  };
}

/** One endpoint that contradicts the store about the first range once, and cannot read that range again. */
function scriptedNode() {
  const requested: number[] = [];
  const reread = async ({ from, to, way }: FactsRequest): Promise<FactsReading | NoReading> => {
    if (way === "receipts") return { kind: "unread", reason: "no receipts are kept" };
    const isFirst = !requested.includes(from);
    requested.push(from);
    if (from === first && !isFirst) return { kind: "unread", reason: "it was pruned" };
    const reported = from === first ? facts.slice(1) : null;
    return {
      kind: "read",
      host: "one",
      calls: 3,
      last: { ...last, number: to },
      facts: reported,
    };
  };
  return { requested, reread };
}

test("one restart repairs several corrupt ranges, and the service is not ready until then", async (t) => {
  const folder = await StoreFolder.open(t);
  const { store, path } = folder;
  const plans = fc.sample(anyBlockPlan(), { seed: testSeed, numRuns: 500 });
  const right = getFacts(buildChain(plans));
  const victims = [5, 4, 2].map((span) =>
    right.find(({ number, fills }) => number >= span * 100 && fills.length > 0),
  );
  const wrong = right.map((one) => (victims.includes(one) ? { ...one, fills: [] } : one));
  const end = right.at(-1);
  assert(end !== undefined && right[0]?.number === 100);
  await appendFacts(store, encodeFacts({ fromBlock: 100, last: end }, wrong));
  const reread = async ({ from, to, stored }: FactsRequest): Promise<FactsReading> => {
    const reported = right.filter(({ number }) => number >= from && number <= to);
    const isEqual = isDeepStrictEqual(stored, summarizeLines(toLines(reported)));
    const facts = isEqual ? null : reported;
    return { kind: "read", host: "one", calls: 3, last: reported.at(-1) ?? end, facts };
  };
  const ordered = Promise.withResolvers<Error>();
  const auditor = new Auditor({
    auditLog: await AuditLog.open(path),
    facts: store,
    reread,
    endpoints: 1,
    unproven: () => [],
    callsPerMinute: 600,
    clock: hastyClock(),
    log: openLog({ level: "silent" }),
    onRepairOrdered: ordered.resolve,
  });
  auditor.start();
  const { message } = await ordered.promise;
  assert.equal(message, "blocks 500 to 599, 400 to 499, 200 to 299 are repaired by a restart");
  assert.equal(auditor.check().ok, false);
  await auditor.close();
  await assertTablesHold(await folder.reopen(), right);
});

test("an unproven mismatch is compared again within a minute, within the budget of calls", async (t) => {
  const { store, path } = await StoreFolder.open(t);
  await appendFacts(store, encodeFacts({ fromBlock: first, last }, facts));
  const otherHash = `0x${"8".repeat(64)}` as Hash;
  const fork = facts.map((one) => ({
    ...one,
    fills: one.fills.map((fill) => ({ ...fill, blockHash: otherHash })),
    events: one.events.map((event) => ({ ...event, blockHash: otherHash })),
  }));
  const clock = hastyClock();
  const comparedAtMs: number[] = [];
  let callsMade = 0;
  // A single endpoint is audited by receipts, with three calls per block.
  const reread = async ({ from, to }: FactsRequest): Promise<FactsReading> => {
    if (from === first && to % 100 === 99) comparedAtMs.push(clock.monotonicMs());
    const calls = 3 * (to - from + 1);
    callsMade += calls;
    const read = fork.filter(({ number }) => number >= from && number <= to);
    const reported = read.length === 0 ? null : read;
    return {
      kind: "read",
      host: "one",
      calls,
      last: { ...last, number: to },
      facts: reported,
    };
  };
  const callsPerMinute = 180;
  const auditor = new Auditor({
    auditLog: await AuditLog.open(path),
    facts: store,
    reread,
    endpoints: 1,
    unproven: () => [],
    callsPerMinute,
    clock,
    log: openLog({ level: "silent" }),
    onRepairOrdered: assert.ifError,
  });
  auditor.start();
  await waitFor("two hours of auditing", async () =>
    clock.monotonicMs() < hours * 3_600_000 ? null : true,
  );
  await auditor.close();
  assert.equal(auditor.status.unverified.length, 1);
  const [once = 0, again = Number.POSITIVE_INFINITY] = comparedAtMs;
  assert(again - once <= 60_000, `compared again after ${again - once} ms`);
  const budget = (clock.monotonicMs() / 60_000) * callsPerMinute;
  // The calls of up to two ranges can be ahead of the budget.
  assert(callsMade <= budget + 2 * 600, `${callsMade} calls of ${budget}`);
});

test("an unverified range that no endpoint has any more is retried between the other ranges", async (t) => {
  const { store, path } = await StoreFolder.open(t);
  await appendFacts(store, encodeFacts({ fromBlock: first, last }, facts));
  const { requested, reread } = scriptedNode();
  const clock = hastyClock();
  const auditor = new Auditor({
    auditLog: await AuditLog.open(path),
    facts: store,
    reread,
    endpoints: 1,
    unproven: () => [],
    callsPerMinute: 10,
    clock,
    log: openLog({ level: "silent" }),
    onRepairOrdered: assert.ifError,
  });
  auditor.start();
  const minutes = 40;
  while (clock.monotonicMs() < minutes * 60_000) await yieldToEventLoop();
  const { ranges, unverified } = auditor.status;
  await auditor.close();
  assert.deepEqual(
    unverified.map(({ from }) => from),
    [first],
  );
  const ofUnverified = requested.filter((from) => from === first).length;
  assert(ofUnverified > minutes / 2, `compared again every other time: ${ofUnverified} times`);
  assert(
    ofUnverified < requested.length * 0.7,
    `others too: ${requested.length - ofUnverified} times`,
  );
  assert(ranges > minutes, `${ranges} ranges in all`);
});

test("the range of a block that was indexed without a proof is audited within a minute", async (t) => {
  const { store, path } = await StoreFolder.open(t);
  await appendFacts(store, encodeFacts({ fromBlock: first, last }, facts));
  const clock = hastyClock();
  const audited: number[] = [];
  const reread = async ({ from, to }: FactsRequest): Promise<FactsReading> => {
    audited.push(from);
    return { kind: "read", host: "one", calls: 3, last: { ...last, number: to }, facts: null };
  };
  const auditor = new Auditor({
    auditLog: await AuditLog.open(path),
    facts: store,
    reread,
    endpoints: 1,
    unproven: () => [first + 30, last.number + 1],
    callsPerMinute: 1,
    clock,
    log: openLog({ level: "silent" }),
    onRepairOrdered: assert.ifError,
  });
  auditor.start();
  // Six calls are owed at the start, so the first range takes six minutes.
  while (!audited.includes(first)) await yieldToEventLoop();
  assert(clock.monotonicMs() <= 7 * 60_000, `${clock.monotonicMs()} ms`);
  while (audited.length < 9) await yieldToEventLoop();
  await auditor.close();
  assert.equal(audited.filter((from) => from === first).length, 2, "and once in its turn");
});
