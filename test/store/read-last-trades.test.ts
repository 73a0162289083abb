/** Compares the last trades up to a moment with those found among all trades. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import * as fc from "fast-check";
import type { Seq, TokenId } from "../../src/base/ids.ts";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import { getLastTrade } from "../../src/market/market.ts";
import { isPast, type Past, readLastTrades } from "../../src/query/markets/read-last-trades.ts";
import type { IndexedFacts } from "../../src/views/indexed-facts.ts";
import type { MarketState } from "../../src/views/markets/market-state.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { propertySettings, testSeed } from "../support/property-settings.ts";
import { fillStore, getFacts, getFills } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";
import { testPairs } from "../support/test-markets.ts";

const pairs = [...testPairs.legacy, ...testPairs.generation3];
const plans = fc.sample(anyBlockPlan(), { seed: testSeed, numRuns: 100 });
const blocks = getFacts(buildChain(plans));
const fills = getFills(blocks).filter(({ role, size }) => role !== "taker" && size > 0n);
const anyPast: fc.Arbitrary<Past> = fc
  .tuple(fc.constantFrom(...fills), fc.boolean(), fc.integer({ min: -2, max: 2 }))
  .map(([{ seq, timestamp }, isTime, more]) =>
    isTime ? { timestampTo: timestamp + more } : { seqTo: (seq + more) as Seq },
  );

/** A state that says of each token that it has `factor` times as many trades as it has. */
function openState(of: readonly BlockFacts[], factor: number): MarketState {
  const trades = Map.groupBy(
    getFills(of).filter(({ role }) => role !== "taker"),
    ({ tokenId }) => tokenId,
  );
  const getTotals = (tokenId: TokenId) => {
    const own = trades.get(tokenId) ?? [];
    const priced = own.findLast(({ size }) => size > 0n);
    return {
      trades: own.length * factor,
      lastTrade: priced === undefined ? null : getLastTrade(priced),
      firstTimestamp: own[0]?.timestamp ?? 0,
      lastTimestamp: own.at(-1)?.timestamp ?? 0,
    };
  };
  return { directory: { getTotals } } as unknown as MarketState;
}

function getExpected(outcomes: readonly (readonly TokenId[])[], past: Past) {
  return outcomes.map((tokenIds) => {
    const last = fills.findLast((fill) => tokenIds.includes(fill.tokenId) && isPast(fill, past));
    return last === undefined ? null : { tokenId: last.tokenId, trade: getLastTrade(last) };
  });
}

async function openStore(t: TestContext, finalCount: number): Promise<IndexedFacts> {
  const { store } = await StoreFolder.open(t);
  const [final, unfinalized] = [blocks.slice(0, finalCount), blocks.slice(finalCount)];
  await fillStore(store, { final, unfinalized, sizes: [9, 1, 17, 2] });
  return store;
}

// With more trades than there are, the time that is read first is too short, and candles bound the positions.
for (const factor of [1, 1e6])
  test(`last trades equal those among all, of ${factor} times as many`, async (t) => {
    const facts = await openStore(t, 80);
    const state = openState(blocks, factor);
    const anyOutcomes = fc.subarray([...pairs, ...pairs.flat().map((id) => [id])]);
    await fc.assert(
      fc.asyncProperty(anyOutcomes, anyPast, async (outcomes, past) => {
        const read = await readLastTrades({ facts, state }, outcomes, past);
        assert.deepEqual(read, getExpected(outcomes, past));
      }),
      propertySettings(60),
    );
  });

test("one query reads the last trades of all tokens that are traded all the time", async (t) => {
  const facts = await openStore(t, blocks.length);
  const query = t.mock.method(facts.engine, "queryBinary");
  const outcomes = Array.from({ length: 20 }, () => pairs).flat();
  const last = fills.at(-1);
  assert(last !== undefined);
  const past = { seqTo: last.seq };
  const read = await readLastTrades({ facts, state: openState(blocks, 1) }, outcomes, past);
  assert.deepEqual(read, getExpected(outcomes, past));
  assert.equal(query.mock.callCount(), 1);
});
