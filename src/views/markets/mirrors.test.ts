/** The life of questions on two ledgers, in any order of logs and trades, with reorgs, against a naive computation. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { type BlockPlan, buildChain } from "../../../test/support/generate-chain.ts";
import { anyTransaction, type Pair } from "../../../test/support/generate-matches.ts";
import { MemoryStateStore } from "../../../test/support/memory-state-store.ts";
import { mirroredIds, mirroredLogs, mirroredPairs } from "../../../test/support/mirrored-market.ts";
import { propertySettings } from "../../../test/support/property-settings.ts";
import { knownContracts } from "../../../test/support/recorded-chain.ts";
import type { Block } from "../../chain/raw-log.ts";
import { LogDecoder } from "../../contracts/log-decoder.ts";
import { type BlockFacts, deriveBlockFacts } from "../../market/block-facts.ts";
import { toFinalDelta, toUnfinalizedDelta } from "../../market/delta.ts";
import { isTrade } from "../../market/fill.ts";
import { getMarketRow } from "../../query/markets/market-rows.ts";
import { MarketState } from "./market-state.ts";

const contracts = knownContracts();
const decoder = new LogDecoder(contracts);
const { legacy: legacyId, mirror: mirrorId } = mirroredIds;
const { legacy: legacyPair, mirror: mirrorPair } = mirroredPairs;

const anyTrade = anyTransaction({ legacy: [legacyPair], generation3: [mirrorPair] });
const anyPlans: fc.Arbitrary<readonly BlockPlan[]> = fc
  .tuple(
    fc.shuffledSubarray(Object.values(mirroredLogs)),
    fc.array(fc.array(anyTrade, { maxLength: 2 }), { minLength: 3, maxLength: 7 }),
  )
  .map(([order, trades]) =>
    trades.map((transactions, index) => {
      const own = order.filter((_, at) => at % trades.length === index);
      return { secondsLater: 20_000, reports: false, transactions: [...own, ...transactions] };
    }),
  );

function assertNaive(state: MarketState, facts: readonly BlockFacts[]): void {
  const { directory } = state;
  const events = facts.flatMap((block) => block.events);
  const trades = facts.flatMap((block) => block.fills).filter(isTrade);
  const toTrades = (pair: Pair) => trades.filter(({ tokenId }) => pair.includes(tokenId));
  const isPrepared = events.some(({ event }) => event.kind === "condition_prepared");
  const namesMirror = events.some(
    ({ event }) => "conditionId" in event && event.conditionId === mirrorId,
  );
  const isSeen = namesMirror || toTrades(mirrorPair).length > 0;
  const results = events
    .filter(({ event }) => event.kind === "condition_resolved")
    .filter(({ event }) => {
      const ofMirror = "conditionId" in event && event.conditionId === mirrorId;
      return ofMirror || isPrepared;
    });
  const isPaired = isPrepared && isSeen;
  const expected = [
    ...(isPrepared
      ? [{ id: legacyId, pairs: isPaired ? [legacyPair, mirrorPair] : [legacyPair] }]
      : []),
    ...(isSeen && !isPrepared ? [{ id: mirrorId, pairs: [mirrorPair] }] : []),
  ];
  assert.deepEqual(
    directory.listedAfter(-1).map(({ conditionId }) => conditionId),
    expected.map(({ id }) => id),
  );
  for (const { id, pairs } of expected) {
    const own = pairs.flatMap(toTrades);
    const window = own.filter(({ timestamp }) => timestamp > state.dayWindow.now - 86_400);
    const market = directory.market(id);
    assert(market !== null);
    const row = getMarketRow(market, state);
    assert.equal(row.trades, own.length);
    assert.equal(row.trades_24h, window.length);
    assert.equal(
      row.last_trade_at_ms ?? 0,
      Math.max(0, ...own.map(({ timestamp }) => timestamp * 1000)),
    );
    const { columns } = directory;
    const ordinal = directory.getMarketOrdinal(id) ?? -1;
    assert.equal(columns.dayTrades.get(ordinal), window.length);
    assert.equal(
      columns.volumeUsd.get(ordinal),
      Number(own.reduce((sum, { value }) => sum + value, 0n)),
    );
    assert.equal(row.mirror !== null, isPaired);
    assert.equal(row.resolution?.seq, results[0]?.seq);
  }
  if (isPaired) {
    assert.deepEqual(directory.market(mirrorId), directory.market(legacyId));
    const first = { index: 0, step: 1 } as const;
    const listed = directory.resolutions.select({}, first).toArray();
    assert.deepEqual(
      listed.map(({ seq }) => seq),
      results.slice(0, 1).map(({ seq }) => seq),
    );
  }
}

test("a question is one market in every order of its events, and after every reorg", () => {
  fc.assert(
    fc.property(anyPlans, anyPlans, fc.nat(7), (plans, others, cut) => {
      const state = new MarketState(contracts, new MemoryStateStore());
      let chain: Block[] = [];
      const facts = () => chain.map((block) => deriveBlockFacts(block, decoder));
      const add = (more: readonly BlockPlan[], salt: string) => {
        for (const { block } of buildChain(more, { salt, after: chain.at(-1) })) {
          chain.push(block);
          state.apply(toUnfinalizedDelta(deriveBlockFacts(block, decoder)));
          state.save();
          assertNaive(state, facts());
        }
      };
      add(plans, "a");
      chain = chain.slice(0, cut);
      state.revert(chain.at(-1)?.number ?? 99);
      assertNaive(state, facts());
      // A log that is still there is not logged again.
      const left = new Set(chain.flatMap(({ logs: of }) => of.map(({ topics }) => topics.join())));
      const again = others.map((plan) => ({
        ...plan,
        transactions: plan.transactions.filter(
          (one) => !("topics" in one && left.has(one.topics.join())),
        ),
      }));
      add(again, "b");
      const loaded = new MarketState(contracts, new MemoryStateStore());
      for (const block of facts()) loaded.apply(toFinalDelta(block));
      assertNaive(loaded, facts());
    }),
    propertySettings(100),
  );
});
