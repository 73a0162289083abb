/** Tests that events which no contract should emit do no harm, and have the same effect in any order. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryStateStore } from "../../test/support/memory-state-store.ts";
import { knownContracts } from "../../test/support/recorded-chain.ts";
import { getExchange } from "../../test/support/test-markets.ts";
import { type ConditionId, type Hash, type TokenId, toSeq } from "../base/ids.ts";
import { MarketDirectory } from "../views/markets/market-directory.ts";
import type { LocatedEvent } from "./block-facts.ts";

type Event = LocatedEvent["event"];

const { address } = getExchange(1, "standard");
const [one, other] = ["a", "b"].map((digit) => {
  return `0x03${digit.repeat(32)}${"0".repeat(30)}` as ConditionId;
}) as [ConditionId, ConditionId];

/** Returns the market of the first condition after these events, one log each. */
function marketAfter(events: readonly Event[]) {
  const directory = new MarketDirectory(knownContracts(), new MemoryStateStore(), () => {});
  for (const [index, event] of events.entries()) directory.applyEvent(located(event, index));
  return directory.market(one);
}

function located(event: Event, index: number): LocatedEvent {
  const hash = `0x${"b".repeat(64)}` as Hash;
  const location = {
    seq: toSeq(1, index),
    timestamp: 1_700_000_001,
    blockHash: hash,
    txHash: hash,
  };
  return { ...location, address, event };
}

function combo(conditionId: ConditionId, leg: ConditionId): Event {
  return { kind: "gen3_combo_prepared", conditionId, legs: [leg as string as TokenId] };
}

function migration(conditionId: ConditionId, legacyConditionId: ConditionId): Event {
  return { kind: "gen3_condition_migrated", conditionId, legacyConditionId };
}

test("combinations whose legs form a cycle have no question", () => {
  assert.equal(marketAfter([combo(one, one)])?.question, null);
  assert.equal(marketAfter([combo(one, other), combo(other, one)])?.question, null);
});

test("the outcomes of a combination are Yes and No, even if a leg has no question", () => {
  const market = marketAfter([combo(one, other)]);
  assert.equal(market?.question, null);
  assert.deepEqual(
    market?.tokens.map(({ outcome }) => outcome),
    ["Yes", "No"],
  );
});

test("conditions whose migrations form a cycle have no question", () => {
  assert.equal(marketAfter([migration(one, one)])?.question, null);
  assert.equal(marketAfter([migration(one, other), migration(other, one)])?.question, null);
  assert.equal(marketAfter([migration(other, one), combo(one, other)])?.question, null);
});

test("a condition of generation 3 that an older exchange registers is listed, in any order of events", () => {
  const registered = { kind: "token_registered", conditionId: one } as Event;
  const comboEvent = combo(one, other);
  assert.deepEqual(marketAfter([registered, comboEvent])?.exchangeVersions, [1]);
  assert.deepEqual(marketAfter([comboEvent, registered])?.exchangeVersions, [1]);
});
