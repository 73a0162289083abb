import assert from "node:assert/strict";
import { test } from "node:test";
import { knownContracts } from "../test/support/recorded-chain.ts";
import type { Address, Seq } from "./base/ids.ts";
import type { LocatedEvent } from "./market/block-facts.ts";
import { deriveNativeEventId } from "./market/gen3-ids.ts";
import { wordOf } from "./market/keccak.ts";
import { MarketList } from "./market/market-list.ts";
import { anyMarket } from "./market/market-members.ts";
import { MarketState } from "./market/market-state.ts";
import { warmLists } from "./warm-lists.ts";

const nobody = `0x${"11".repeat(20)}` as Address;

/** Markets that are all called alike, and each by a word of its own. */
function stateOf(markets: number): MarketState {
  const state = new MarketState(knownContracts());
  const events = Array.from({ length: markets }, (_, index): LocatedEvent[] => {
    const eventId = deriveNativeEventId("binary", wordOf(index));
    const place = { timestamp: 1, blockHash: wordOf(1), txHash: wordOf(index), address: nobody };
    const title = `q: title: Will it own${index}?, description: `;
    const text = `0x${Buffer.from(title).toString("hex")}` as const;
    const told = { kind: "gen3_text_registered", requestId: eventId, requester: nobody, text };
    return [
      {
        ...place,
        seq: (2 * index) as Seq,
        event: { kind: "gen3_event_announced", eventId, marketType: "binary" },
      },
      { ...place, seq: (2 * index + 1) as Seq, event: told as LocatedEvent["event"] },
    ];
  }).flat();
  const tally = { fills: 0, events: 0, quarantined: [], anomalies: [] };
  const digest = { events, candles: [], trades: [], lastTrades: new Map(), tally };
  state.applyFinal(digest, { number: 1, timestamp: 1 });
  return state;
}

function found(state: MarketState, words: readonly string[]): number {
  return new MarketList(state.directory.columns, { ...anyMarket, words }).length;
}

test("asks for common words and some others, a list with each step, and changes nothing", () => {
  const state = stateOf(300);
  const steps = [...warmLists(state)].length;
  assert.ok(steps > 100 && steps < 200, String(steps));
  assert.equal(found(state, ["will", "it"]), 300);
  assert.equal(found(state, ["own77"]), 1);
});

test("without markets there is one list of nothing", () => {
  assert.equal([...warmLists(stateOf(0))].length, 1);
});
