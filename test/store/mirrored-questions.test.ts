/** Which questions are one market, by logs, by ids and where ids fit twice: in any order, after reorgs and loads. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { type ConditionId, type Hash, toSeq } from "../../src/base/ids.ts";
import type { Block } from "../../src/chain/raw-log.ts";
import { toFinalDelta, toUnfinalizedDelta } from "../../src/market/delta.ts";
import { isTrade } from "../../src/market/fill.ts";
import { deriveConditionId, deriveTokenIds } from "../../src/market/ids/condition-ids.ts";
import { deriveGen3ConditionId, deriveGen3TokenIds } from "../../src/market/ids/gen3-ids.ts";
import { getMarketRow } from "../../src/query/markets/market-rows.ts";
import { formatConditionId } from "../../src/rows/wire-format.ts";
import { MarketState } from "../../src/views/markets/market-state.ts";
import { deriveMigratedEventId } from "../support/derive-gen3-ids.ts";
import { type BlockPlan, buildChain } from "../support/generate-chain.ts";
import { anyTransaction, type Pair } from "../support/generate-matches.ts";
import { MemoryStateStore } from "../support/memory-state-store.ts";
import {
  encodeLogOfKind,
  mirroredIds,
  mirroredLogs,
  mirroredPairs,
} from "../support/mirrored-market.ts";
import { propertySettings } from "../support/property-settings.ts";
import { knownContracts } from "../support/recorded-chain.ts";
import { fillStore, getFacts } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";
import { type LogContent, testMarkets } from "../support/test-markets.ts";

type Has = (log: LogContent) => boolean;
type Condition = {
  readonly id: ConditionId;
  readonly pair: Pair;
  /** The log that makes a legacy condition known; a mirror has none. */
  readonly prepared: LogContent | null;
  readonly resolved: LogContent | null;
  /** Returns the neg-risk market or event of the condition; `null` if it is binary. */
  readonly negRiskMarketId: (has: Has) => Hash | null;
  /** Returns the question of a condition that has one here. */
  readonly getTitle?: (has: Has) => string | null;
};
type Questions = {
  /** Each at most once, as on the chain. */
  readonly logs: readonly LogContent[];
  readonly conditions: readonly Condition[];
  /** Returns the legacy condition that a mirror names or fits, prepared or not. */
  readonly getLegacy: (mirrorId: ConditionId, has: Has) => ConditionId | null;
};

const contracts = knownContracts();
const negRiskOperator = "0x71523d0f655B41E805Cec45b17163f528B59B820";

function preparation(of: { oracle: string; questionId: Hash; conditionId: ConditionId }) {
  return encodeLogOfKind("conditional_tokens", "ConditionPreparation", {
    ...of,
    outcomeSlotCount: 2n,
  });
}

/** Two legacy conditions with equal low 16 bytes, and the mirror that both fit. */
function ambiguousQuestions(): Questions {
  const { prepared, registered, resolved, mirrorResolved } = mirroredLogs;
  const { oracle } = testMarkets.standard;
  const questionId = `0x${"9e".repeat(32)}` as Hash;
  const otherId = `0x${"9f".repeat(16)}${mirroredIds.legacy.slice(-32)}` as ConditionId;
  const other = preparation({ oracle, questionId, conditionId: otherId });
  const negRiskMarketId = () => null;
  const [legacy, mirror] = [mirroredIds.legacy, mirroredIds.mirror];
  const otherPair = deriveTokenIds(otherId, contracts.collateral);
  return {
    logs: [prepared, other, registered, resolved, mirrorResolved],
    conditions: [
      { id: legacy, pair: mirroredPairs.legacy, prepared, resolved, negRiskMarketId },
      { id: otherId, pair: otherPair, prepared: other, resolved: null, negRiskMarketId },
      {
        id: mirror,
        pair: mirroredPairs.mirror,
        prepared: null,
        resolved: mirrorResolved,
        negRiskMarketId,
      },
    ],
    getLegacy: (_, has) => {
      if (has(registered)) return legacy;
      if (has(prepared) && has(other)) return null;
      return has(prepared) ? legacy : otherId;
    },
  };
}

/** A neg-risk event of two questions with its "Other" in generation 3, and a second market that fits its mirror. */
function negRiskQuestions(): Questions {
  const { oracle } = testMarkets.negRisk;
  const marketId = `0x${"b7".repeat(31)}00` as Hash;
  const twinId = `0x${"c7".repeat(16)}${marketId.slice(-32)}` as Hash;
  const eventId = deriveMigratedEventId(marketId, 2);
  const getQuestion = (market: Hash, index: number) =>
    encodeLogOfKind("neg_risk_adapter", "QuestionPrepared", {
      marketId: market,
      questionId: `${market.slice(0, -2)}0${index}`,
      index: BigInt(index),
      data: "0x",
    });
  const twin = getQuestion(twinId, 0);
  const titled = encodeLogOfKind("neg_risk_adapter", "MarketPrepared", {
    marketId,
    oracle: negRiskOperator,
    feeBips: 0n,
    data: `0x${Buffer.from("title: Who wins?, description: None, id: 1").toString("hex")}`,
  });
  const questions = [0, 1].map((index) => {
    const questionId = `${marketId.slice(0, -2)}0${index}` as Hash;
    const legacyId = deriveConditionId({ oracle, questionId, outcomeSlotCount: 2 });
    const mirrorId = deriveGen3ConditionId(eventId, index);
    const v2ConditionId = mirrorId.slice(0, 64);
    const link = { legacyConditionId: legacyId, payout0: 1n, payout1: 0n };
    const result = { result0: 1_000_000n, result1: 0n };
    return {
      legacyId,
      mirrorId,
      requested: getQuestion(marketId, index),
      prepared: preparation({ oracle, questionId, conditionId: legacyId }),
      named:
        index === 0
          ? encodeLogOfKind("neg_risk_module", "MigrationConditionRegistered", {
              v2ConditionId,
              ...link,
            })
          : encodeLogOfKind("neg_risk_module", "MigrationResolved", {
              conditionId: v2ConditionId,
              ...link,
              ...result,
            }),
      resolved: encodeLogOfKind("neg_risk_module", "ConditionResolved", {
        conditionId: v2ConditionId,
        result: [1_000_000n, 0n],
      }),
    };
  });
  /** Whether the event is that of the market: by a log about one of its questions, or because nothing else fits. */
  const isLinked = (has: Has) =>
    questions.some(({ named, prepared }) => has(named) && has(prepared)) ||
    (questions[1] !== undefined && has(questions[1].requested) && !has(twin));
  const ofMirror = (has: Has) => (isLinked(has) ? marketId : eventId);
  const otherId = deriveGen3ConditionId(eventId, 2);
  return {
    logs: [
      twin,
      titled,
      ...questions.flatMap((one) => [one.requested, one.prepared, one.named, one.resolved]),
    ],
    conditions: [
      ...questions.flatMap(({ legacyId, mirrorId, requested, prepared, resolved }): Condition[] => [
        {
          id: legacyId,
          pair: deriveTokenIds(legacyId, contracts.wrappedCollateral),
          prepared,
          resolved: null,
          negRiskMarketId: (has) => (has(requested) ? marketId : null),
        },
        {
          id: mirrorId,
          pair: deriveGen3TokenIds(mirrorId),
          prepared: null,
          resolved,
          negRiskMarketId: ofMirror,
        },
      ]),
      {
        id: otherId,
        pair: deriveGen3TokenIds(otherId),
        prepared: null,
        resolved: null,
        negRiskMarketId: ofMirror,
        getTitle: (has) => (isLinked(has) && has(titled) ? "Who wins? (Other)" : null),
      },
    ],
    getLegacy: (mirrorId, has) => {
      const question = questions.find((one) => one.mirrorId === mirrorId);
      if (question === undefined) return null;
      const { legacyId, named, requested } = question;
      return has(named) || (isLinked(has) && has(requested)) ? legacyId : null;
    },
  };
}

const getKey = ({ address, topics }: LogContent) => [address, ...topics].join();

/** The rows that the chain must have, computed from all its blocks. */
function expectedRows({ conditions, getLegacy }: Questions, chain: readonly Block[]) {
  const logs = chain.flatMap((block) => block.logs);
  const placed = new Map(logs.map((log) => [getKey(log), toSeq(log.blockNumber, log.logIndex)]));
  const has: Has = (log) => placed.has(getKey(log));
  const trades = getFacts(chain.map((block) => ({ block, fills: [] })))
    .flatMap(({ fills }) => fills)
    .filter(isTrade);
  const toTrades = ({ pair }: Condition) => trades.filter(({ tokenId }) => pair.includes(tokenId));
  const visible = conditions.filter((one) => {
    if (one.prepared !== null) return has(one.prepared);
    const isNamed = logs.some(({ topics }) => topics.join().includes(one.id.slice(2, 64)));
    return isNamed || toTrades(one).length > 0;
  });
  const pairs = new Map(
    visible
      .filter(({ prepared }) => prepared === null)
      .map((mirror) => [mirror, visible.find(({ id }) => id === getLegacy(mirror.id, has))]),
  );
  return visible.flatMap((one) => {
    if (pairs.get(one) !== undefined) return [];
    const mirror = [...pairs].find(([, legacy]) => legacy === one)?.[0];
    const both = mirror === undefined ? [one] : [one, mirror];
    const own = both.flatMap(toTrades);
    const results = both.flatMap(({ resolved }) => {
      const seq = resolved === null ? undefined : placed.get(getKey(resolved));
      return seq === undefined ? [] : [seq];
    });
    return [
      {
        id: formatConditionId(one.id),
        mirror: mirror === undefined ? null : formatConditionId(mirror.id),
        trades: own.length,
        volume: own.reduce((sum, { value }) => sum + value, 0n),
        result: results.toSorted((a, b) => a - b)[0] ?? null,
        negRiskMarketId: one.negRiskMarketId(has),
        title: one.getTitle?.(has) ?? null,
      },
    ];
  });
}

const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);

function assertRows(state: MarketState, questions: Questions, chain: readonly Block[]): void {
  const { directory } = state;
  const rows = directory.listedAfter(-1).map(({ conditionId }) => {
    const market = directory.market(conditionId);
    assert(market !== null);
    const row = getMarketRow(market, state);
    const ordinal = directory.getMarketOrdinal(conditionId) ?? -1;
    return {
      id: row.id,
      mirror: row.mirror?.condition_id ?? null,
      trades: row.trades,
      volume: BigInt(directory.columns.volumeUsd.get(ordinal) ?? 0),
      result: row.resolution?.seq ?? null,
      negRiskMarketId: row.neg_risk_market_id,
      title: row.question,
    };
  });
  assert.deepEqual(rows.toSorted(byId), expectedRows(questions, chain).toSorted(byId));
}

function anyPlans({ logs, conditions }: Questions): fc.Arbitrary<readonly BlockPlan[]> {
  const getPairs = (isLegacy: boolean) =>
    conditions.filter(({ prepared }) => (prepared !== null) === isLegacy).map(({ pair }) => pair);
  const anyTrade = anyTransaction(
    { legacy: getPairs(true), generation3: getPairs(false) },
    fc.bigInt({ min: 1n, max: 1_000_000n }),
  );
  const anyOrder = fc.shuffledSubarray([...logs], { minLength: Math.floor(logs.length / 2) });
  const anyTrades = fc.array(fc.array(anyTrade, { maxLength: 1 }), { minLength: 3, maxLength: 7 });
  return fc.tuple(anyOrder, anyTrades).map(([order, trades]) =>
    trades.map((transactions, index) => {
      const own = order.filter((_, at) => at % trades.length === index);
      return { secondsLater: 20, reports: false, transactions: [...own, ...transactions] };
    }),
  );
}

function newState(): MarketState {
  return new MarketState(contracts, new MemoryStateStore());
}

const cases = {
  "binary ids that fit twice": ambiguousQuestions(),
  "neg-risk events": negRiskQuestions(),
};

for (const [name, questions] of Object.entries(cases)) {
  describe(name, () => {
    const plansOrOthers = anyPlans(questions);
    test("are linked by what the chain says, in every order and after every reorg", () => {
      fc.assert(
        fc.property(plansOrOthers, plansOrOthers, fc.nat(7), (plans, others, cut) => {
          const state = newState();
          let chain: Block[] = [];
          const add = (more: readonly BlockPlan[], salt: string) => {
            const built = buildChain(more, { salt, after: chain.at(-1) });
            for (const [index, block] of getFacts(built).entries()) {
              chain.push(...built.slice(index, index + 1).map((one) => one.block));
              state.apply(toUnfinalizedDelta(block));
              state.save();
              assertRows(state, questions, chain);
            }
          };
          add(plans, "a");
          chain = chain.slice(0, cut);
          state.revert(chain.at(-1)?.number ?? 99);
          assertRows(state, questions, chain);
          const left = new Set(chain.flatMap(({ logs }) => logs.map(getKey)));
          const again = others.map((plan) => ({
            ...plan,
            transactions: plan.transactions.filter(
              (one) => !("topics" in one && left.has(getKey(one))),
            ),
          }));
          add(again, "b");
          const final = newState();
          for (const block of getFacts(chain.map((block) => ({ block, fills: [] }))))
            final.apply(toFinalDelta(block));
          assertRows(final, questions, chain);
        }),
        propertySettings(100),
      );
    });

    test("are linked the same when the state is loaded from the store", async (t) => {
      for (const plans of fc.sample(plansOrOthers, { ...propertySettings(4) })) {
        const folder = await StoreFolder.open(t);
        const built = buildChain(plans);
        await fillStore(folder.store, { final: getFacts(built), unfinalized: [], sizes: [2, 1] });
        await folder.reopen();
        const state = newState();
        await folder.store.loadView(state);
        const chain = built.map(({ block }) => block);
        assertRows(state, questions, chain);
        await folder.close();
      }
    });
  });
}
