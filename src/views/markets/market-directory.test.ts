/** Markets are built from logs that come in any order, or not at all. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { anyTransaction, BlockWriter } from "../../../test/support/generate-matches.ts";
import { listedMarkets } from "../../../test/support/listed-markets.ts";
import { MemoryStateStore } from "../../../test/support/memory-state-store.ts";
import { propertySettings } from "../../../test/support/property-settings.ts";
import { knownContracts } from "../../../test/support/recorded-chain.ts";
import {
  allTestMarkets,
  encodeLog,
  gen3Conditions,
  getExchange,
  knownCreator,
  type LogContent,
  marketLogs,
  stranger,
  type TestMarket,
  testMarkets,
  testPairs,
  umaText,
} from "../../../test/support/test-markets.ts";
import type { ConditionId, Hash, TokenId } from "../../base/ids.ts";
import { LogDecoder } from "../../contracts/log-decoder.ts";
import { type BlockFacts, deriveBlockFacts, type LocatedEvent } from "../../market/block-facts.ts";
import { toTrades } from "../../market/fill.ts";
import { toKeccak } from "../../market/ids/keccak.ts";
import type { Market } from "../../market/market.ts";
import { MarketDirectory } from "./market-directory.ts";

const contracts = knownContracts();
const decoder = new LogDecoder(contracts);

function hash(digit: string): Hash {
  return `0x${digit.repeat(64)}` as Hash;
}

/** A block at height `number` with one transaction for each log. */
function getFacts(number: number, logs: readonly LogContent[]): BlockFacts {
  const place = { number, hash: hash("b"), parentHash: null, timestamp: 1_700_000_000 + number };
  const writer = new BlockWriter(place);
  for (const log of logs) writer.addLog(log);
  return deriveBlockFacts(writer.block, decoder);
}

function getDirectory(...blocks: readonly BlockFacts[]): MarketDirectory {
  const directory = new MarketDirectory(contracts, new MemoryStateStore(), () => {});
  for (const block of blocks) apply(directory, block);
  return directory;
}

function apply(directory: MarketDirectory, { events, fills }: BlockFacts): void {
  for (const event of events) directory.applyEvent(event);
  directory.applyTrades(toTrades(fills));
}

function says({ events }: BlockFacts, kind: LocatedEvent["event"]["kind"]): boolean {
  return events.some(({ event }) => event.kind === kind);
}

function getMarket(directory: MarketDirectory, { conditionId }: TestMarket): Market {
  const market = directory.market(conditionId);
  assert(market !== null);
  return market;
}

/** All that the directory answers about the test markets. */
function getAnswers(directory: MarketDirectory): unknown {
  return {
    listed: listedMarkets(directory).toSorted(),
    markets: allTestMarkets.map(({ conditionId }) => directory.market(conditionId)),
    gen3Markets: Object.values(gen3Conditions).map((id) => directory.market(id)),
    resolutions: Array.from({ length: directory.resolutions.count }, (_, index) =>
      directory.resolutions.at(index),
    ),
    totals: allTestMarkets.map(({ tokenIds }) => tokenIds.map((id) => directory.getTotals(id))),
  };
}

/**
 * One block for each log, so that logs can come in any order and keep their positions. Only the log
 * that resolves the remaining conditions to No stays with the Yes from which it follows.
 */
const oneByOne = marketLogs
  .map((log, index) => getFacts(index + 1, [log]))
  .map((block, index, all) => {
    const next = all[index + 1];
    const isFollowed = next !== undefined && says(next, "gen3_remaining_resolved_no");
    return isFollowed ? { ...block, events: [...block.events, ...next.events] } : block;
  })
  .filter(({ events }) => events[0]?.event.kind !== "gen3_remaining_resolved_no");
/** Posts about questions. They only count once the question, and so its creator, is known. */
const updates = oneByOne.filter((block) => says(block, "question_updated"));
const anytime = oneByOne.filter((block) => !updates.includes(block));
const anyTrades = fc.array(anyTransaction(testPairs), { maxLength: 3 }).map((transactions) => {
  const place = { number: 999, hash: hash("c"), parentHash: null, timestamp: 1_700_009_999 };
  const writer = new BlockWriter(place);
  for (const transaction of transactions) writer.addTransaction(transaction);
  return deriveBlockFacts(writer.block, decoder);
});

describe("markets are the same in whatever order their parts arrive", () => {
  test("all parts, with trades between them", () => {
    const order = fc.shuffledSubarray(anytime, { minLength: anytime.length });
    fc.assert(
      fc.property(order, anyTrades, fc.nat(anytime.length), (order, trades, at) => {
        const expected = getAnswers(getDirectory(...oneByOne, trades));
        const parts = [...order.toSpliced(at, 0, trades), ...updates];
        assert.deepEqual(getAnswers(getDirectory(...parts)), expected);
      }),
      propertySettings(100),
    );
  });

  test("any subset of the parts: missing data is null, never wrong", () => {
    const complete = getDirectory(...oneByOne);
    const anyPart = fc
      .shuffledSubarray(anytime)
      .chain((part) =>
        fc.shuffledSubarray(part, { minLength: part.length }).map((again) => ({ part, again })),
      );
    fc.assert(
      fc.property(anyPart, ({ part, again }) => {
        const directory = getDirectory(...part);
        assert.deepEqual(getAnswers(getDirectory(...again)), getAnswers(directory));
        for (const { conditionId } of allTestMarkets) {
          const [market, whole] = [directory.market(conditionId), complete.market(conditionId)];
          if (market === null || whole === null) continue;
          // Until the request is known, a neg-risk question has the text of the adapter.
          const titles = [null, whole.question, "One of three"];
          assert(titles.includes(market.question), String(market.question));
          assert.deepEqual(market.tokens.map(getId), whole.tokens.map(getId));
        }
      }),
      propertySettings(100),
    );
  });

  function getId({ tokenId }: { tokenId: TokenId }): TokenId {
    return tokenId;
  }
});

describe("markets", () => {
  const directory = getDirectory(...oneByOne);
  const toText = (market: TestMarket): unknown => {
    const { question, description, metadataSource, tokens } = getMarket(directory, market);
    return [question, description, metadataSource, tokens.map(({ outcome }) => outcome)];
  };

  test("a question of a known creator has its text, updates and resolution", () => {
    assert.deepEqual(toText(testMarkets.standard), [
      "Standard, isn't it?",
      "About Standard, isn't it?.\n\nUpdate: REVISION: \t\n\\ 'quoted' \u{1f600}",
      "chain",
      ["Yes", "No"],
    ]);
    const market = getMarket(directory, testMarkets.standard);
    assert.equal(market.createdBlock, 1);
    assert.equal(market.createdAt, 1_700_000_001);
    assert.deepEqual([market.negRisk, market.negRiskMarketId, market.eventId], [false, null, null]);
    assert.deepEqual(market.exchangeVersions, [1]);
    assert.deepEqual(market.resolution?.numerators, [0n, 1n]);
  });

  test("the same question with another oracle has no text, because that oracle was not asked", () => {
    assert.deepEqual(toText(testMarkets.sameQuestion), [null, null, "none", [null, null]]);
    const { questionId, resolution } = getMarket(directory, testMarkets.sameQuestion);
    assert.equal(questionId, testMarkets.standard.questionId);
    assert.equal(resolution, null);
  });

  test("a question of an unknown creator is marked as untrusted", () => {
    const [question, , source, outcomes] = toText(testMarkets.strangersQuestion) as unknown[];
    assert.deepEqual(
      [question, source, outcomes],
      ["A: B?", "chain_untrusted", ["FaZe", "illwill"]],
    );
  });

  test("a question of the first adapter, whose logs have no creator, is marked as untrusted", () => {
    const [question, description, source] = toText(testMarkets.firstAdapter) as unknown[];
    assert.deepEqual([question, description, source], ["Old", "As they were.", "chain_untrusted"]);
  });

  test("a neg-risk question has the text of its request, its event and its neg-risk market", () => {
    assert.deepEqual(toText(testMarkets.negRisk), [
      "Will one of three win?",
      "About Will one of three win?.",
      "chain",
      ["Yes", "No"],
    ]);
    const market = getMarket(directory, testMarkets.negRisk);
    assert.deepEqual([market.negRisk, market.eventId], [true, "4711"]);
    assert.equal(market.negRiskMarketId, `0x${"a7".repeat(31)}00`);
    assert.deepEqual(market.exchangeVersions, [1]);
  });

  test("a condition with three outcomes has a resolution but no tokens", () => {
    const market = getMarket(directory, testMarkets.threeOutcomes);
    assert.deepEqual([market.outcomeCount, market.tokens], [3, []]);
    assert.deepEqual(market.resolution?.numerators, [1n, 0n, 2n]);
  });

  test("conditions with a known oracle, a registration or more than two outcomes are listed", () => {
    const { unknownOracle } = testMarkets;
    const listed = new Set(listedMarkets(directory));
    const hidden = allTestMarkets.filter(({ conditionId }) => !listed.has(conditionId));
    assert.deepEqual(hidden, [unknownOracle]);
    assert.notEqual(directory.market(unknownOracle.conditionId), null);
  });

  test("every condition of generation 3 that a log names is listed, with its derived resolution", () => {
    const { combo, migrated, derivedYes, ...others } = gen3Conditions;
    const listed = new Set(listedMarkets(directory));
    for (const conditionId of [combo, derivedYes, ...Object.values(others)]) {
      assert(listed.has(conditionId));
    }
    assert(!listed.has(migrated));
    const describeMarket = (conditionId: ConditionId): unknown => {
      const market = directory.market(conditionId);
      assert(market !== null);
      const { question, metadataSource, negRisk, resolution } = market;
      return [question, metadataSource, negRisk, resolution?.numerators, resolution?.derived];
    };
    const [yes, no] = [
      [1_000_000n, 0n],
      [0n, 1_000_000n],
    ];
    assert.deepEqual(Object.values(others).map(describeMarket), [
      ["Of generation 3", "chain", false, [333_333n, 666_667n], false],
      ["Of generation 3", "chain_untrusted", true, no, true],
      [null, "none", true, yes, false],
      [null, "none", true, no, true],
    ]);
    assert.equal(
      directory.market(others.binary)?.description,
      "About Of generation 3.\n\nUpdate: The deadline is noon.",
    );
    assert.deepEqual(describeMarket(derivedYes), [null, "none", true, yes, true]);
    // A mirror has no market of its own.
    assert.deepEqual(directory.market(migrated), getMarket(directory, testMarkets.standard));
    // One leg of this combination has no text.
    assert.deepEqual(describeMarket(combo), [null, "none", false, undefined, undefined]);
  });

  test("a token has its condition, its outcome index and its complement", () => {
    for (const { conditionId, tokenIds } of allTestMarkets) {
      for (const [outcomeIndex, tokenId] of tokenIds.entries()) {
        assert.deepEqual(directory.getSlot(tokenId), { conditionId, outcomeIndex });
        assert.equal(directory.getComplement(tokenId), tokenIds[1 - outcomeIndex]);
        assert(directory.isKnownToken(tokenId));
      }
    }
    const unknown = hash("7") as string as TokenId;
    assert.deepEqual([directory.getSlot(unknown), directory.getComplement(unknown)], [null, null]);
    assert(!directory.isKnownToken(unknown));
    assert.equal(directory.market(unknown as string as ConditionId), null);
  });
});

describe("which logs are trusted", () => {
  const neg = testMarkets.negRisk;
  const requestId = getQuestionId("Will one of three win?");
  const negRiskLogs = oneByOne.filter(({ events }) =>
    events.some(
      ({ event }) =>
        event.kind.startsWith("neg_risk") ||
        "oracle" in event ||
        (event.kind === "question_initialized" && event.questionId === requestId),
    ),
  );

  function getQuestionId(title: string): Hash {
    return toKeccak(Buffer.from(umaText({ title, creator: knownCreator })));
  }

  test("a neg-risk market prepared by an unknown operator is not trusted", () => {
    const untrusted = negRiskLogs.map((block) => ({
      ...block,
      events: block.events.map((located) =>
        located.event.kind === "neg_risk_market_prepared"
          ? { ...located, event: { ...located.event, oracle: stranger } }
          : located,
      ),
    }));
    assert.equal(getMarket(getDirectory(...untrusted), neg).metadataSource, "chain_untrusted");
    assert.equal(getMarket(getDirectory(...negRiskLogs), neg).metadataSource, "chain");
  });

  test("a neg-risk question has the text of its own request, not of a request with the same id in another adapter", () => {
    const all = [...contracts.byAddress.values()];
    const firstAdapter = all.find(({ kind }) => kind === "uma_adapter_v1");
    assert(firstAdapter !== undefined);
    const squatter = encodeLog(firstAdapter, "QuestionInitialized", {
      questionID: requestId,
      ancillaryData: `0x${Buffer.from("q: title: Mine, description: D").toString("hex")}`,
      resolutionTime: 1n,
      rewardToken: stranger,
      reward: 0n,
      proposalBond: 0n,
      earlyResolutionEnabled: true,
    });
    const expected = getMarket(getDirectory(...negRiskLogs), neg);
    assert.equal(expected.question, "Will one of three win?");
    const block = getFacts(0, [squatter]);
    assert.deepEqual(getMarket(getDirectory(block, ...negRiskLogs), neg), expected);
    assert.deepEqual(getMarket(getDirectory(...negRiskLogs, block), neg), expected);
  });

  test("updates by anyone but the creator change nothing", () => {
    const others = updates.map((block) => ({
      ...block,
      events: block.events.map((located) =>
        located.event.kind === "question_updated"
          ? { ...located, event: { ...located.event, owner: stranger } }
          : located,
      ),
    }));
    const answers = getAnswers(getDirectory(...anytime));
    assert.deepEqual(getAnswers(getDirectory(...anytime, ...others)), answers);
    assert.notDeepEqual(getAnswers(getDirectory(...anytime, ...updates)), answers);
  });

  test("a text that does not hash to its id is ignored, even if it comes first", () => {
    const forged = oneByOne.find(({ events }) =>
      events.some(
        ({ event }) =>
          event.kind === "question_initialized" &&
          Buffer.from(event.text.slice(2), "hex").includes("Forged"),
      ),
    );
    const prepared = oneByOne[0];
    assert(forged !== undefined && prepared !== undefined);
    const market = getMarket(getDirectory(prepared, forged), testMarkets.standard);
    assert.equal(market.question, null);
  });

  test("resolving the rest of an event to NO also resolves conditions that no other log names", () => {
    const rest = oneByOne.find((block) => says(block, "gen3_remaining_resolved_no"));
    const reported = rest?.events.at(-1);
    assert(rest !== undefined && reported !== undefined);
    const alone = { ...rest, events: [reported] };
    const { first, second, other } = gen3Conditions;
    const ends = (...blocks: BlockFacts[]) => {
      const { resolutions } = getDirectory(...blocks);
      return Array.from({ length: resolutions.count }, (_, at) => resolutions.at(at));
    };
    assert.deepEqual(
      ends(alone).map((one) => [one?.conditionId, one?.seq, one?.numerators, one?.derived]),
      [first, second, other].map((id) => [id, reported.seq, [0n, 1_000_000n], true]),
    );
    const later = oneByOne.filter((block) => says(block, "gen3_event_announced"));
    assert(later.length > 0);
    assert.deepEqual(ends(alone, ...later), ends(alone), "nothing is added to the past");
    const derived = ends(rest).map((one) => [one?.conditionId, one?.derived] as const);
    const expected = [[first, true] as const, [second, false] as const, [other, true] as const];
    assert.deepEqual(new Map(derived), new Map(expected), "the YES has a log of its own");
  });

  test("registrations count only from exchanges", () => {
    const { conditionId, tokenIds } = testMarkets.unknownOracle;
    const [token0, token1] = tokenIds.map((id) => BigInt(id));
    const exchange = getExchange(1, "neg_risk");
    const args = { token0, token1, conditionId };
    const registered = getFacts(50, [encodeLog(exchange, "TokenRegistered", args)]);
    const prepared = oneByOne.find(({ events }) =>
      events.some(
        ({ event }) => event.kind === "condition_prepared" && event.conditionId === conditionId,
      ),
    );
    assert(prepared !== undefined);
    const [event] = registered.events;
    assert(event !== undefined);
    const elsewhere = { ...registered, events: [{ ...event, address: stranger }] };
    const listed = (...blocks: BlockFacts[]): boolean =>
      listedMarkets(getDirectory(...blocks)).includes(conditionId);
    assert.deepEqual(
      [listed(prepared), listed(prepared, elsewhere), listed(prepared, registered)],
      [false, false, true],
    );
    assert.equal(listed(registered, prepared), true, "late preparation");
  });
});
