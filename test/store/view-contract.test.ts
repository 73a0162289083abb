/**
 * The contract of views: after any schedule of apply, revert, finalize and reload, each view equals a recomputation
 * from the resulting chain alone.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { type TokenId, toBlockNumber } from "../../src/base/ids.ts";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import { toFinalDelta, toUnfinalizedDelta } from "../../src/market/delta.ts";
import { isTrade, toTrades } from "../../src/market/fill.ts";
import {
  deriveMinuteCandles,
  type MinuteCandle,
  toMinute,
} from "../../src/market/minute-candle.ts";
import { readCandles } from "../../src/query/read-candles.ts";
import { readFills } from "../../src/query/read-fills.ts";
import type { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { MarketState } from "../../src/views/markets/market-state.ts";
import { updateDayChanges } from "../../src/views/prices/day-change.ts";
import { appendFacts, finalizeFacts } from "../support/append-facts.ts";
import { describeState } from "../support/describe-state.ts";
import { anyBlockPlan, type BlockPlan, buildChain } from "../support/generate-chain.ts";
import { MemoryStateStore } from "../support/memory-state-store.ts";
import { naiveCandles } from "../support/naive-candles.ts";
import { propertySettings } from "../support/property-settings.ts";
import { knownContracts } from "../support/recorded-chain.ts";
import { encode, getFacts, getFills } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";
import { testPairs } from "../support/test-markets.ts";

const [[yes, no]] = testPairs.legacy as [[TokenId, TokenId]];
const contracts = knownContracts();
const roles = ["maker", "direct"] as const;
const limits = [1, 3, 20];

type Step =
  | { readonly kind: "hold" | "append"; readonly plans: readonly BlockPlan[] }
  | { readonly kind: "finalize" | "revert"; readonly depth: number }
  | { readonly kind: "reload" };

const anyPlans = fc.array(anyBlockPlan(4), { minLength: 1, maxLength: 4 });
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom("hold" as const, "append" as const), plans: anyPlans }),
  fc.record({ kind: fc.constantFrom("finalize" as const, "revert" as const), depth: fc.nat(4) }),
  fc.record({ kind: fc.constant("reload" as const) }),
);

/** Takes one step and returns the facts of the resulting chain. */
async function take(
  store: IndexedFacts,
  facts: readonly BlockFacts[],
  { step, salt }: { step: Exclude<Step, { kind: "reload" }>; salt: string },
): Promise<readonly BlockFacts[]> {
  const final = store.coverage?.last.number ?? -1;
  switch (step.kind) {
    case "hold":
    case "append": {
      // Final blocks are never appended below unfinalized ones.
      const isUnfinalized = step.kind === "hold" || store.headBuffer.newest !== null;
      const more = goOn(facts, step.plans, salt);
      if (isUnfinalized) for (const block of more) store.apply(toUnfinalizedDelta(block));
      else await appendFacts(store, encode(more));
      return [...facts, ...more];
    }
    case "finalize": {
      await finalizeFacts(store, (store.newestBlock ?? -1) - step.depth);
      return facts;
    }
    case "revert": {
      const safe = Math.max(final, (store.newestBlock ?? -1) - step.depth);
      store.revert(safe);
      return facts.filter(({ number }) => number <= safe);
    }
  }
}

function goOn(
  facts: readonly BlockFacts[],
  plans: readonly BlockPlan[],
  salt: string,
): BlockFacts[] {
  const newest = facts.at(-1);
  if (newest === undefined) return getFacts(buildChain(plans, { salt }));
  const { number, hash, timestamp } = newest;
  return getFacts(
    buildChain(plans, { salt, after: { number, hash, parentHash: hash, timestamp, logs: [] } }),
  );
}

async function assertRecent(store: IndexedFacts, facts: readonly BlockFacts[]): Promise<void> {
  const trades = getFills(facts).filter(isTrade).toReversed();
  for (const tokenIds of [undefined, [yes], [yes, no]]) {
    const own = trades.filter(({ tokenId }) => tokenIds?.includes(tokenId) ?? true);
    for (const limit of limits) {
      const filter = { roles, ...(tokenIds === undefined ? {} : { tokenIds }) };
      const page = { filter, order: "desc", after: null, limit, finalizedOnly: false } as const;
      assert.deepEqual(await readFills(store, page), own.slice(0, limit));
    }
  }
  for (const bucketSeconds of [60, 3600]) {
    const naive = [...naiveCandles(getFills(facts), { same: [yes], inverted: [no], bucketSeconds })]
      .map(([bucket, candle]) => ({ bucket, candle }))
      .toSorted((a, b) => b.bucket - a.bucket);
    const all = { same: [yes], inverted: [no], bucketSeconds, from: 0 };
    for (const limit of limits) {
      const range = { ...all, to: Number.MAX_SAFE_INTEGER, order: "desc", limit } as const;
      assert.deepEqual(await readCandles(store, range), naive.slice(0, limit));
    }
  }
}

/** Asserts that every view shows what can be computed from the facts alone. */
async function assertViews(
  { store, state }: { store: IndexedFacts; state: MarketState },
  facts: readonly BlockFacts[],
): Promise<void> {
  const final = store.coverage?.last.number ?? -1;
  assert.deepEqual(
    store.headBuffer.blocks,
    facts.filter(({ number }) => number > final),
  );
  const openFrom = toMinute(store.coverage?.last.timestamp ?? 0);
  const newest = getFills(facts).filter(
    ({ seq, timestamp }) => toBlockNumber(seq) > final || timestamp >= openFrom,
  );
  assert.deepEqual(
    sorted(store.headBuffer.minutes()),
    sorted(deriveMinuteCandles(toTrades(newest))),
  );
  const alone = new MarketState(contracts, new MemoryStateStore());
  for (const block of facts) {
    alone.apply(block.number <= final ? toFinalDelta(block) : toUnfinalizedDelta(block));
  }
  for (const one of [state, alone]) await updateDayChanges(one);
  assert.deepEqual(describeState(state), describeState(alone));
  await assertRecent(store, facts);
}

function sorted(candles: readonly MinuteCandle[]): readonly MinuteCandle[] {
  return candles.toSorted((a, b) => a.candle.open.seq - b.candle.open.seq);
}

/** Acts like a new process: loads everything from the store and applies the unfinalized blocks again. */
async function reload(
  folder: StoreFolder,
  unfinalized: readonly BlockFacts[],
): Promise<MarketState> {
  const store = await folder.reopen();
  const state = new MarketState(contracts, new MemoryStateStore());
  await store.loadView(state);
  store.addView(state);
  for (const block of unfinalized) store.apply(toUnfinalizedDelta(block));
  return state;
}

test("R9, R16: after any steps every view equals that of the resulting chain", async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 3, maxLength: 9 }), async (steps) => {
      const folder = await StoreFolder.open(t);
      let state = new MarketState(contracts, new MemoryStateStore());
      folder.store.addView(state);
      try {
        let facts: readonly BlockFacts[] = [];
        for (const [index, step] of steps.entries()) {
          if (step.kind === "reload") state = await reload(folder, folder.store.headBuffer.blocks);
          else facts = await take(folder.store, facts, { step, salt: `${index}` });
          await assertViews({ store: folder.store, state }, facts);
        }
      } finally {
        await folder.close();
      }
    }),
    propertySettings(12),
  );
});
