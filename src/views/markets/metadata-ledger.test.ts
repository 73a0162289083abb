/** The venue's market metadata is kept next to what the chain proves, through blocks, reorgs and saves. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { anyBlockPlan, type BlockPlan, buildChain } from "../../../test/support/generate-chain.ts";
import { listedMarkets } from "../../../test/support/listed-markets.ts";
import { MemoryStateStore } from "../../../test/support/memory-state-store.ts";
import { noMetadata } from "../../../test/support/no-metadata.ts";
import { propertySettings } from "../../../test/support/property-settings.ts";
import { knownContracts } from "../../../test/support/recorded-chain.ts";
import {
  allTestMarkets,
  gen3Conditions,
  marketLogs,
  testMarkets,
} from "../../../test/support/test-markets.ts";
import { metadataLimits } from "../../base/config/venue-limits.ts";
import type { ConditionId, TokenId } from "../../base/ids.ts";
import type { Block } from "../../chain/raw-log.ts";
import { LogDecoder } from "../../contracts/log-decoder.ts";
import { deriveBlockFacts } from "../../market/block-facts.ts";
import { toFinalDelta, toUnfinalizedDelta } from "../../market/delta.ts";
import { getAllTokens, type Market } from "../../market/market.ts";
import type { MetadataMarket } from "../../venue/metadata/parse-market.ts";
import { MarketState } from "./market-state.ts";

const contracts = knownContracts();
const decoder = new LogDecoder(contracts);
const conditionIds = [
  ...allTestMarkets.map(({ conditionId }) => conditionId),
  ...Object.values(gen3Conditions),
];
const tokenIds = allTestMarkets.flatMap((market) => market.tokenIds);
const now = 1_790_000_000;
const quiet = { secondsLater: 1, reports: false, transactions: [] };

const noClaims = { questionId: null, negRisk: null, tokenIds: null, outcomes: null };
const { outcomes: _, ...noTexts } = noMetadata;

function toMetadata(
  conditionId: ConditionId,
  texts: Partial<MetadataMarket["texts"]>,
  claims: Partial<MetadataMarket["claims"]> = {},
): MetadataMarket {
  return {
    conditionId,
    texts: { ...noTexts, ...texts },
    claims: { ...noClaims, winnerIndex: null, ...claims },
  };
}

/** A state with every test market, all of it final. */
function stateOfAll(): MarketState {
  const state = new MarketState(contracts, new MemoryStateStore());
  for (const block of getChain(marketLogs.length)) apply(state, block, "final");
  return state;
}

function getChain(blocks: number): Block[] {
  const plans = Array.from({ length: blocks }, () => ({ ...quiet, reports: true }));
  return buildChain(plans).map(({ block }) => block);
}

function apply(state: MarketState, block: Block, as: "final" | "unfinalized"): void {
  const facts = deriveBlockFacts(block, decoder);
  state.apply(as === "final" ? toFinalDelta(facts) : toUnfinalizedDelta(facts));
}

function getMarket(state: MarketState, conditionId: ConditionId): Market {
  const market = state.directory.market(conditionId);
  assert(market !== null);
  return market;
}

const anyText = fc.option(fc.constantFrom("one", "two", "three", "Yes", "Nö"), { nil: null });
const anyReported: fc.Arbitrary<MetadataMarket> = fc
  .record({
    conditionId: fc.constantFrom(...conditionIds),
    slug: anyText,
    category: anyText,
    tags: fc.array(fc.constantFrom("one", "two", "three"), { maxLength: 2 }),
    eventId: fc.option(fc.constantFrom("7", "8"), { nil: null }),
    question: anyText,
    description: anyText,
    endMs: fc.option(fc.integer({ min: 1, max: 1e12 }), { nil: null }),
    claims: fc.record({
      questionId: anyText,
      negRisk: fc.option(fc.boolean(), { nil: null }),
      tokenIds: fc.option(
        fc.oneof(
          fc.constantFrom(...allTestMarkets.map((market) => market.tokenIds)),
          fc.array(fc.constantFrom<TokenId>(...tokenIds), { maxLength: 3 }),
        ),
        { nil: null },
      ),
      outcomes: fc.option(fc.array(fc.constantFrom("Yes", "No", "Up"), { maxLength: 3 }), {
        nil: null,
      }),
      winnerIndex: fc.option(fc.nat(3), { nil: null }),
    }),
  })
  .map(({ conditionId, claims, ...texts }) => toMetadata(conditionId, texts, claims));

type Step =
  | { readonly kind: "settle" | "revert" | "save"; readonly count: number }
  | { readonly kind: "hold"; readonly plans: readonly BlockPlan[] }
  | { readonly kind: "report"; readonly markets: readonly MetadataMarket[] };

const anySteps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constantFrom("settle" as const, "revert" as const, "save" as const),
      count: fc.integer({ min: 1, max: 4 }),
    }),
    fc.record({ kind: fc.constant("hold" as const), plans: fc.array(anyBlockPlan(1)) }),
    fc.record({
      kind: fc.constant("report" as const),
      markets: fc.array(anyReported, { maxLength: 4 }),
    }),
  ),
  { minLength: 5, maxLength: 25 },
);

/** Leads a state through blocks and market metadata, and keeps the resulting chain. */
class Walk {
  readonly state = new MarketState(contracts, new MemoryStateStore());
  readonly chain: Block[] = [];
  #settled = 0;
  #forks = 0;

  take(step: Step): void {
    switch (step.kind) {
      case "hold":
        return this.#hold(step.plans);
      case "settle": {
        this.#settled = Math.max(this.#settled, this.chain.length - step.count);
        const last = this.chain[this.#settled - 1];
        if (last !== undefined) this.state.finalize(last.number);
        return;
      }
      case "revert": {
        this.#forks += 1;
        this.chain.splice(Math.max(this.#settled, this.chain.length - step.count));
        const newest = this.chain.at(-1);
        return this.state.revert(newest?.number ?? 0);
      }
      case "save":
        return this.state.save();
      case "report":
        for (const market of step.markets) this.state.venue.take(market, now);
        return;
    }
  }

  #hold(plans: readonly BlockPlan[]): void {
    const place = { after: this.chain.at(-1), salt: `${this.#forks}` };
    for (const { block } of buildChain(plans, place)) {
      this.chain.push(block);
      apply(this.state, block, "unfinalized");
    }
  }
}

/** Asserts that the venue has changed nothing that the chain proves of a market. */
function assertProven(served: Market, proven: Market): void {
  const {
    question,
    description,
    eventId,
    metadataSource,
    tokens: _tokens,
    venue,
    mirror,
    ...facts
  } = proven;
  for (const [name, value] of Object.entries(facts)) {
    assert.deepEqual(served[name as keyof Market], value, name);
  }
  assert.equal(venue, null);
  const servedMirror = served.mirror;
  assert.deepEqual(
    servedMirror && { ...servedMirror, tokens: [] },
    mirror && { ...mirror, tokens: [] },
  );
  const servedTokens = getAllTokens(served);
  const provenTokens = getAllTokens(proven);
  for (const [index, token] of provenTokens.entries()) {
    const { outcome, ...rest } = servedTokens[index] ?? token;
    assert.deepEqual({ ...rest, outcome: token.outcome ?? outcome }, { ...token, outcome });
  }
  assert.equal(servedTokens.length, provenTokens.length);
  if (metadataSource !== "none") {
    assert.deepEqual([served.metadataSource, served.question], [metadataSource, question]);
  }
  if (description !== null) assert.equal(served.description, description);
  if (eventId !== null) assert.equal(served.eventId, eventId);
}

describe("the venue's market metadata", () => {
  test("never changes what the chain proves, and is found by its current slug", () => {
    const property = fc.property(anySteps, (steps) => {
      const walk = new Walk();
      for (const step of steps) walk.take(step);
      const chainAlone = new MarketState(contracts, new MemoryStateStore());
      for (const block of walk.chain) apply(chainAlone, block, "final");
      const { directory } = walk.state;
      for (const conditionId of conditionIds) {
        const alone = chainAlone.directory.provenMarket(conditionId);
        assert.deepEqual(directory.provenMarket(conditionId), alone);
        const proven = chainAlone.directory.market(conditionId);
        const served = directory.market(conditionId);
        if (served !== null && proven !== null) assertProven(served, proven);
      }
      for (const label of ["one", "two", "three"]) {
        const named = conditionIds.filter((id) => directory.getMetadata(id)?.slug === label);
        const found = new Set(named.map((id) => directory.getMarketId(id)));
        assert.deepEqual(directory.bySlug(label).toSorted(), [...found].toSorted(), label);
      }
    });
    fc.assert(property, propertySettings(300));
  });

  test("fills in what the chain does not have, and the source is then the venue", () => {
    const state = stateOfAll();
    const { unknownOracle, standard } = testMarkets;
    const question = "The venue asks?";
    for (const { conditionId, tokenIds: ids } of [unknownOracle, standard]) {
      const claims = { tokenIds: ids.toReversed(), outcomes: ["Down", "Up"] };
      state.venue.take(toMetadata(conditionId, { slug: "a-b", question }, claims), now);
    }
    const filled = getMarket(state, unknownOracle.conditionId);
    assert.equal(filled.metadataSource, "venue");
    assert.equal(filled.question, question);
    assert.deepEqual(
      filled.tokens.map(({ outcome }) => outcome),
      ["Up", "Down"],
    );
    const proven = getMarket(state, standard.conditionId);
    assert.equal(proven.metadataSource, "chain");
    assert.equal(proven.question, "Standard, isn't it?");
    assert.deepEqual(
      proven.tokens.map(({ outcome }) => outcome),
      ["Yes", "No"],
    );
  });

  test("is counted as a contradiction while it contradicts the chain", () => {
    const state = stateOfAll();
    const { standard, negRisk } = testMarkets;
    const [yes, no] = standard.tokenIds;
    assert(yes !== undefined && no !== undefined);
    // This market was resolved to No.
    const wrong = { negRisk: true, questionId: negRisk.questionId, outcomes: ["Yes", "Maybe"] };
    const claims = { ...wrong, tokenIds: [yes, no], winnerIndex: 0 };
    const report = (more: typeof claims) =>
      state.venue.take(toMetadata(standard.conditionId, {}, more), now);
    report(claims);
    const none = { tokens: 0, outcomes: 0, resolution: 0, neg_risk: 0, question_id: 0 };
    const some = { ...none, outcomes: 1, resolution: 1, neg_risk: 1, question_id: 1 };
    assert.deepEqual(state.venue.coverage.contradictions, some);
    report({ ...claims, tokenIds: [yes, "0x07" as TokenId] });
    const others = { ...none, tokens: 1, neg_risk: 1, question_id: 1 };
    assert.deepEqual(state.venue.coverage.contradictions, others);
    const right = { negRisk: false, questionId: standard.questionId, outcomes: ["no", " YES "] };
    report({ ...right, tokenIds: [no, yes], winnerIndex: 0 });
    assert.deepEqual(state.venue.coverage.contradictions, none);
    assert.equal(state.venue.coverage.known, 1);
  });

  test("is found for both markets that share a slug, until the slug of one changes", () => {
    const state = stateOfAll();
    const { standard, negRisk } = testMarkets;
    for (const { conditionId } of [standard, negRisk]) {
      state.venue.take(toMetadata(conditionId, { slug: "twice" }), now);
    }
    assert.equal(state.directory.bySlug("twice").length, 2);
    state.venue.take(toMetadata(standard.conditionId, { slug: "once" }), now);
    assert.deepEqual(state.directory.bySlug("twice"), [negRisk.conditionId]);
    assert.deepEqual(state.directory.bySlug("once"), [standard.conditionId]);
  });
});

describe("requesting market metadata from the venue", () => {
  test("is due for markets that were never requested, newest first, and then by age", () => {
    const state = stateOfAll();
    const all = listedMarkets(state.directory);
    assert.deepEqual(state.venue.due(now, 1000), {
      conditionIds: all.toReversed(),
      missing: all.length,
    });
    assert.equal(state.venue.due(now, 2).conditionIds.length, 2);
    const { standard, strangersQuestion, firstAdapter } = testMarkets;
    state.venue.recordAbsent(all, now);
    assert.deepEqual(state.venue.due(now, 1000), { conditionIds: [], missing: 0 });
    for (const { conditionId } of [standard, strangersQuestion]) {
      state.venue.take(toMetadata(conditionId, { slug: "a" }), now);
    }
    const isDueAfter = ({ conditionId }: { conditionId: ConditionId }, seconds: number) =>
      state.venue.due(now + seconds, 1000).conditionIds.includes(conditionId);
    const { absentAgeSecondsMax, openAgeSeconds, endedAgeSeconds } = metadataLimits;
    assert.equal(isDueAfter(firstAdapter, absentAgeSecondsMax - 1), false);
    assert.equal(isDueAfter(firstAdapter, absentAgeSecondsMax), true);
    assert.equal(isDueAfter(strangersQuestion, openAgeSeconds - 1), false);
    assert.equal(isDueAfter(strangersQuestion, openAgeSeconds), true);
    assert.equal(isDueAfter(standard, openAgeSeconds), false);
    assert.equal(isDueAfter(standard, endedAgeSeconds), true);
    assert.equal(isDueAfter(standard, -endedAgeSeconds), true, "the wall clock was ahead");
  });

  test("is due again soon while a market is new", () => {
    const state = stateOfAll();
    const { conditionId } = testMarkets.firstAdapter;
    const { createdAt } = getMarket(state, conditionId);
    const isDueAt = (seconds: number) =>
      state.venue.due(seconds, 1000).conditionIds.includes(conditionId);
    state.venue.recordAbsent([conditionId], createdAt + 5);
    assert.equal(isDueAt(createdAt + 5 + 59), false);
    assert.equal(isDueAt(createdAt + 5 + 60), true);
    state.venue.recordAbsent([conditionId], createdAt + 1000);
    assert.equal(isDueAt(createdAt + 1999), false);
    assert.equal(isDueAt(createdAt + 2000), true);
  });

  test("keeps the metadata of a market that the venue no longer returns", () => {
    const state = stateOfAll();
    const { conditionId } = testMarkets.standard;
    state.venue.take(toMetadata(conditionId, { slug: "a" }), now);
    state.venue.recordAbsent([conditionId], now + 1);
    assert.equal(state.directory.getMetadata(conditionId)?.slug, "a");
    assert.equal(state.venue.coverage.known, 1);
  });

  test("pauses while too many changes could still be reverted", () => {
    const state = stateOfAll();
    const last = getChain(marketLogs.length + 1).at(-1);
    assert(last !== undefined);
    apply(state, last, "unfinalized");
    assert.equal(state.venue.isFull, false);
    for (let seconds = 1; !state.venue.isFull; seconds += 1) {
      assert(seconds <= metadataLimits.changesAheadMax, "it comes to an end");
      state.venue.recordAbsent(conditionIds, seconds);
    }
    state.finalize(last.number);
    assert.equal(state.venue.isFull, false);
  });
});
