/** R7: readiness reports blocks without a commit record. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import * as fc from "fast-check";
import { openLog } from "../../src/base/log.ts";
import { type ChangeSource, Intake, type ObservedHead } from "../../src/feed/intake.ts";
import { MarketState } from "../../src/views/markets/market-state.ts";
import { appendFacts } from "../support/append-facts.ts";
import { cleanUp } from "../support/clean-up.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { MemoryStateStore } from "../support/memory-state-store.ts";
import { testSeed } from "../support/property-settings.ts";
import { knownContracts } from "../support/recorded-chain.ts";
import { encode, getFacts } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";

const blocks = getFacts(buildChain(fc.sample(anyBlockPlan(), { seed: testSeed, numRuns: 5 })));
const ignore = (): void => {};

/** Opens an intake that takes in nothing. The test sets the head that its source has heard of. */
async function openIntake(t: TestContext) {
  const { store } = await StoreFolder.open(t);
  const source: Omit<ChangeSource, "kind"> & {
    kind: ChangeSource["kind"];
    head: ObservedHead | null;
  } = {
    kind: "feed",
    head: null,
    check: () => ({ ok: true, detail: "" }),
    close: ignore,
  };
  const intake = new Intake({
    config: { readyLagSecondsMax: 60 },
    log: openLog({ level: "fatal" }),
    source,
    facts: store,
    state: new MarketState(knownContracts(), new MemoryStateStore()),
    subscribers: { unfinalized: ignore, reverting: ignore, appended: ignore, finalized: ignore },
  });
  cleanUp(t, () => intake.close());
  return { intake, store, source };
}

test("the coverage check passes only without a gap", async (t) => {
  const { intake, store } = await openIntake(t);
  assert.deepEqual(intake.checks(0)["coverage"], { ok: true, detail: "nothing finalized yet" });
  await appendFacts(store, encode(blocks));
  const stored = `blocks ${blocks[0]?.number} to ${blocks.at(-1)?.number}`;
  for (const [missing, ok, detail] of [
    [0, true, `${stored} without a gap`],
    [3, false, `${stored}, of which 3 are missing`],
    [null, false, `${stored}, gaps not known`],
  ] as const) {
    assert.deepEqual(intake.checks(missing)["coverage"], { ok, detail });
  }
});

test("the lag check distinguishes an empty store from an unknown head", async (t) => {
  const { intake, store } = await openIntake(t);
  const lag = () => intake.checks(0)["lag"];
  assert.deepEqual(lag(), { ok: false, detail: "nothing indexed yet" });
  await appendFacts(store, encode(blocks));
  assert.deepEqual(lag(), { ok: false, detail: "the head of the chain is not known yet" });
});

test("the head is never below the newest indexed block", async (t) => {
  const { intake, store, source } = await openIntake(t);
  await appendFacts(store, encode(blocks));
  const last = blocks.at(-1);
  assert(last !== undefined);
  const { number, timestamp } = last;
  assert.equal(intake.freshness().head_block, null);
  source.head = { number: number - 1, timestamp, ageMs: 0 };
  assert.equal(intake.freshness().head_block, number);
  source.head = { number: number + 1, timestamp, ageMs: 0 };
  assert.equal(intake.freshness().head_block, number + 1);
});

test("a head older than 10 seconds is assumed to have advanced", async (t) => {
  const { intake, store, source } = await openIntake(t);
  await appendFacts(store, encode(blocks));
  const last = blocks.at(-1);
  assert(last !== undefined);
  const { number, timestamp } = last;
  const lag = (ageMs: number) => {
    source.head = { number, timestamp, ageMs };
    return intake.freshness().lag_seconds;
  };
  assert.deepEqual([lag(0), lag(9_999), lag(12_345), lag(3_600_000)], [0, 0, 12, 3_600]);
  assert.equal(intake.checks(0)["lag"]?.ok, false, "a feed without a new head is not");
  source.kind = "chain";
  assert.equal(intake.checks(0)["lag"]?.ok, true, "a chain that stands still is followed");
});
