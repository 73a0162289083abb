/** Any amount that a contract can emit is either stored or quarantined, and never stops indexing. */

import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { invertCandle } from "../../src/market/invert.ts";
import { readCandles } from "../../src/query/read-candles.ts";
import { readFills } from "../../src/query/read-fills.ts";
import { appendFacts } from "../support/append-facts.ts";
import { buildChain } from "../support/generate-chain.ts";
import { anyTransaction, type TransactionPlan } from "../support/generate-matches.ts";
import { naiveCandles } from "../support/naive-candles.ts";
import { testSeed } from "../support/property-settings.ts";
import { encode, getFacts, getFills } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";
import { testPairs } from "../support/test-markets.ts";

/** Small amounts, amounts around the largest one that is stored, and amounts near the maximum of an event. */
const extremes = [
  1n,
  7n,
  10n ** 29n,
  10n ** 30n,
  10n ** 31n,
  10n ** 38n - 1n,
  10n ** 38n,
  2n ** 255n,
];

const anyExtreme = fc
  .tuple(anyTransaction(testPairs), fc.constantFrom(...extremes), fc.constantFrom(...extremes))
  .map(([plan, shares, cash]): TransactionPlan => {
    const items = plan.items.map((item) => {
      if (item.kind === "direct") return { ...item, order: { ...item.order, shares, cash } };
      // Only complementary legs: the sums of minting or merging legs could become negative.
      const legs = item.legs.map((leg) => ({ ...leg, isOtherToken: false, shares, cash, fee: 0n }));
      return { ...item, legs, fee: 0n };
    });
    return { ...plan, items };
  });

test("amounts of any size are stored or quarantined, and the store returns the stored ones unchanged", async (t) => {
  const { store } = await StoreFolder.open(t);
  const transactions = fc.sample(anyExtreme, { seed: testSeed, numRuns: 300 });
  const plans = transactions.map((transaction) => ({
    secondsLater: 1,
    reports: false,
    transactions: [transaction],
  }));
  const blocks = getFacts(buildChain(plans));
  const fills = getFills(blocks);
  const quarantined = blocks.flatMap((block) => block.quarantined);
  assert(fills.length > 100 && quarantined.length > 100, "some are sent and some are not");

  await appendFacts(store, encode(blocks));
  const page = { filter: {}, order: "asc", after: null, limit: 100_000 } as const;
  assert.deepEqual(await readFills(store, { ...page, finalizedOnly: true }), fills);
  for (const [tokenId, complement] of testPairs.legacy) {
    const range = {
      same: [tokenId],
      inverted: [complement],
      bucketSeconds: 86_400,
      from: 0,
      to: 2 ** 40,
    };
    const candles = await readCandles(store, { ...range, order: "asc", limit: 100 });
    const expected = [...naiveCandles(fills, range)].map(([bucket, candle]) => ({
      bucket,
      candle,
    }));
    assert.deepEqual(candles, expected);
    for (const { candle } of candles) assert.deepEqual(invertCandle(invertCandle(candle)), candle);
  }
});
