/** Markets that only the venue has named: traded tokens of unknown conditions, through proofs, reorgs and saves. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { anyBlockPlan, buildChain } from "../../../test/support/generate-chain.ts";
import { MemoryStateStore } from "../../../test/support/memory-state-store.ts";
import { knownContracts } from "../../../test/support/recorded-chain.ts";
import { venueMarket } from "../../../test/support/scripted-metadata.ts";
import {
  gen3Conditions,
  type TestMarket,
  testMarkets,
} from "../../../test/support/test-markets.ts";
import { metadataLimits } from "../../base/config/venue-limits.ts";
import { formatTokenId, type TokenId } from "../../base/ids.ts";
import { LogDecoder } from "../../contracts/log-decoder.ts";
import { deriveBlockFacts } from "../../market/block-facts.ts";
import { toFinalDelta, toUnfinalizedDelta } from "../../market/delta.ts";
import { deriveGen3TokenIds } from "../../market/ids/gen3-ids.ts";
import { type MetadataMarket, parseMarket } from "../../venue/metadata/parse-market.ts";
import { MarketState } from "./market-state.ts";

const contracts = knownContracts();
const decoder = new LogDecoder(contracts);
const { standard, unknownOracle, negRisk, sameQuestion } = testMarkets;
const now = 1_790_000_000;
/** Blocks of trades, without any log of a market. */
const trades = fc
  .sample(anyBlockPlan(4), { seed: 7, numRuns: 40 })
  .map((plan) => ({ ...plan, reports: false }));

function getClaim(
  market: TestMarket,
  more: Readonly<Record<string, unknown>> = {},
): MetadataMarket {
  const { conditionId, tokenIds } = market;
  const claim = { conditionId, tokenIds: tokenIds.map(formatTokenId), slug: "the-slug", more };
  const parsed = parseMarket(venueMarket(claim));
  assert(parsed !== null);
  return parsed;
}

function getState(plans: Parameters<typeof buildChain>[0], as: "final" | "unfinalized" = "final") {
  const stateStore = new MemoryStateStore();
  const state = new MarketState(contracts, stateStore);
  for (const { block } of buildChain(plans)) {
    const facts = deriveBlockFacts(block, decoder);
    state.apply(as === "final" ? toFinalDelta(facts) : toUnfinalizedDelta(facts));
  }
  return { state, stateStore };
}

/** Looks up a market for its tokens, as for a request by token. Returns whether it was proven. */
function lookUp(state: MarketState, claim: MetadataMarket): boolean {
  const proven = state.venue.prove(claim, { isRequested: true });
  state.venue.take(proven, now);
  return proven.adoptedAs !== undefined;
}

test("the traded tokens of unknown conditions are due, once each, and generation 3 is known", () => {
  const { state } = getState(trades);
  const due = state.venue.dueTokens(now, 100);
  const markets = [standard, unknownOracle, negRisk, testMarkets.strangersQuestion];
  const expected = markets.flatMap(({ tokenIds }) => tokenIds);
  assert.deepEqual(due.toSorted(), expected.toSorted());
  assert.equal(state.directory.unknownTokens.count, due.length);
  for (const tokenId of deriveGen3TokenIds(gen3Conditions.binary)) {
    assert.equal(state.venue.isUnknownToken(tokenId), false);
  }
  assert.deepEqual(getState([]).state.venue.dueTokens(now, 100), []);
});

test("a claimed condition is adopted exactly if its token ids contain a traded token", () => {
  for (const market of [standard, negRisk]) {
    const { state } = getState(trades);
    assert.equal(lookUp(state, getClaim(market, { negRisk: market !== negRisk })), true);
    const adopted = state.directory.market(market.conditionId);
    assert.deepEqual(
      adopted?.tokens.map(({ tokenId, outcome }) => [tokenId, outcome]),
      market.tokenIds.map((tokenId, index) => [tokenId, ["Yes", "No"][index]]),
    );
    assert.equal(adopted.negRisk, market === negRisk, "the token ids decide, not the claim");
    assert.deepEqual([adopted.metadataSource, adopted.createdBlock], ["venue", null]);
    assert.equal(adopted.question, "The venue asks: the-slug?");
    const [tokenId] = market.tokenIds;
    assert.equal(
      state.getOrdinal(tokenId as TokenId),
      state.directory.getOrdinal(market.conditionId),
    );
    assert.ok(
      state.directory.columns.volumeUsd.get(state.getOrdinal(tokenId as TokenId) ?? -1) > 0,
    );
  }
});

test("the oracle and the question of an adopted condition are those that its id proves", () => {
  const { state } = getState(trades);
  lookUp(state, getClaim(standard, { questionID: standard.questionId }));
  lookUp(state, getClaim(negRisk, { questionID: standard.questionId }));
  const getFields = ({ conditionId }: TestMarket) => {
    const market = state.directory.market(conditionId);
    return [market?.oracle, market?.questionId];
  };
  assert.deepEqual(getFields(standard), [standard.oracle, standard.questionId]);
  assert.deepEqual(getFields(negRisk), [null, null]);
});

test("a claim of another condition is refused and counted, and the token is looked up later", () => {
  const { state } = getState(trades);
  const [tokenId] = standard.tokenIds as [TokenId];
  const foreign = getClaim({ ...sameQuestion, tokenIds: standard.tokenIds });
  assert.equal(lookUp(state, foreign), false);
  assert.deepEqual([state.directory.getSlot(tokenId), state.venue.refusedClaims], [null, 1]);
  assert.equal(state.directory.market(sameQuestion.conditionId), null);
  const isDue = (seconds: number) => state.venue.dueTokens(seconds, 100).includes(tokenId);
  let at = now;
  for (let lookups = 0; lookups < 20; lookups += 1) {
    assert.equal(isDue(at), true);
    state.venue.recordAbsentTokens([tokenId], at);
    const pause = Math.min(15 * 2 ** lookups, metadataLimits.tokenPauseSecondsMax);
    assert.equal(isDue(at + pause - 1), false);
    at += pause;
  }
  assert.equal(lookUp(state, getClaim(standard)), true);
  assert.equal(isDue(at), false);
});

test("a market that is only read is adopted if it names an unknown traded token", () => {
  const { state } = getState(trades);
  const read = (claim: MetadataMarket) => state.venue.prove(claim, {}).adoptedAs;
  assert.equal(read(getClaim(standard)), "standard");
  assert.equal(read(getClaim(sameQuestion)), undefined);
  assert.equal(read(getClaim({ ...sameQuestion, tokenIds: standard.tokenIds })), undefined);
  assert.equal(state.venue.refusedClaims, 0);
});

test("a requested market without trades is adopted if the venue claims its own tokens", () => {
  const { state } = getState([]);
  const want = (claim: MetadataMarket) => {
    const proven = state.venue.prove(claim, { isProofDue: true });
    state.venue.take(proven, now);
    return state.directory.market(claim.conditionId);
  };
  assert.equal(want(getClaim(standard))?.metadataSource, "venue");
  assert.equal(want(getClaim({ ...negRisk, tokenIds: standard.tokenIds })), null);
  const conditionId = gen3Conditions.binary;
  const gen3 = getClaim({ ...standard, conditionId, tokenIds: deriveGen3TokenIds(conditionId) });
  assert.equal(want(gen3)?.tokens.length, 2);
  assert.equal(state.venue.refusedClaims, 1);
});

test("what the chain says of an adopted condition replaces the claim", () => {
  const blocks = buildChain([
    ...trades.slice(0, 20).map((plan) => ({ ...plan, secondsLater: 1 })),
    ...trades.slice(20),
  ]);
  const { state } = getState([]);
  for (const { block } of blocks) state.apply(toFinalDelta(deriveBlockFacts(block, decoder)));
  lookUp(state, getClaim(standard));
  const after = blocks.at(-1)?.block;
  const preparation = buildChain(
    Array.from({ length: 30 }, () => ({ secondsLater: 1, reports: true, transactions: [] })),
  );
  const logs = preparation.flatMap(({ block }) => block.logs);
  const [prepared] = buildChain([{ secondsLater: 1, reports: false, transactions: logs }], {
    after,
  });
  assert(prepared !== undefined);
  state.apply(toFinalDelta(deriveBlockFacts(prepared.block, decoder)));
  const market = state.directory.market(standard.conditionId);
  assert.deepEqual(
    [market?.createdBlock, market?.oracle, market?.metadataSource, market?.question],
    [prepared.block.number, standard.oracle, "chain", "Standard, isn't it?"],
  );
});

test("a reorg that reverts an adoption makes the token due again", () => {
  const { state } = getState(trades, "unfinalized");
  const before = state.venue.dueTokens(now, 100);
  lookUp(state, getClaim(standard));
  const rest = state.venue.dueTokens(now, 100);
  assert.equal(rest.length, before.length - 2);
  state.venue.recordAbsentTokens(rest, now);
  state.revert(99 + trades.length - 1);
  assert.equal(state.directory.market(standard.conditionId), null);
  assert.deepEqual(state.venue.dueTokens(now, 100).toSorted(), before.toSorted());
  assert.equal(lookUp(state, getClaim(standard)), true);
  state.revert(99);
  assert.deepEqual(state.venue.dueTokens(now, 100), []);
  assert.equal(state.directory.getSlot(standard.tokenIds[0] as TokenId), null);
});

test("another node adopts a stored market without having seen the trade", () => {
  const { state } = getState(trades);
  const stored = JSON.stringify(state.venue.prove(getClaim(negRisk), { isRequested: true }));
  const other = getState([]).state;
  other.venue.take(JSON.parse(stored) as MetadataMarket, now);
  const market = other.directory.market(negRisk.conditionId);
  assert.deepEqual([market?.negRisk, market?.metadataSource], [true, "venue"]);
});
