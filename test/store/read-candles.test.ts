/** Compares candles from the store and the head buffer with candles computed from the trades, bucket by bucket. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import type { TokenId } from "../../src/base/ids.ts";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import type { BucketCandle } from "../../src/market/candle.ts";
import { resolutionSeconds } from "../../src/market/candle.ts";
import { toUnfinalizedDelta } from "../../src/market/delta.ts";
import { toMinute } from "../../src/market/minute-candle.ts";
import { type CandleRange, readCandles, readManyCandles } from "../../src/query/read-candles.ts";
import type { CandleTotals } from "../../src/query/read-stored-candles.ts";
import type { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { appendFacts, finalizeFacts } from "../support/append-facts.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { naiveCandles } from "../support/naive-candles.ts";
import { propertySettings, testSeed } from "../support/property-settings.ts";
import { encode, fillStore, getFacts, getFills } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";
import { testPairs } from "../support/test-markets.ts";

const allPairs = [...testPairs.legacy, ...testPairs.generation3];
const plans = fc.sample(anyBlockPlan(), { seed: testSeed, numRuns: 100 });
const blocks = getFacts(buildChain(plans));
const timestamps = blocks.map((block) => block.timestamp);
const [start, end] = [Math.min(...timestamps), Math.max(...timestamps)];

const anyTime = fc.oneof(
  fc.constantFrom(0, start, end, end + 1, 2 ** 40),
  fc.constantFrom(...timestamps),
  fc.integer({ min: start - 100_000, max: end + 100_000 }),
);
const anyRange: fc.Arbitrary<CandleRange & { readonly areTotalsKnown: boolean }> = fc
  .record({
    pair: fc.constantFrom(...allPairs, ...allPairs.map(([yes, no]) => [no, yes] as const)),
    isPair: fc.boolean(),
    areTotalsKnown: fc.boolean(),
    bucketSeconds: fc.constantFrom(...Object.values(resolutionSeconds)),
    from: anyTime,
    to: anyTime,
    order: fc.constantFrom("asc" as const, "desc" as const),
    limit: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constant(1000)),
  })
  .map(({ pair: [tokenId, other], isPair, ...range }) => ({
    ...range,
    same: [tokenId],
    inverted: isPair ? [other] : [],
  }));

function naive(of: readonly BlockFacts[], range: CandleRange): BucketCandle[] {
  const sign = range.order === "asc" ? 1 : -1;
  return [...naiveCandles(getFills(of), range)]
    .map(([bucket, candle]) => ({ bucket, candle }))
    .filter(({ bucket }) => bucket >= range.from && bucket < range.to)
    .toSorted((a, b) => sign * (a.bucket - b.bucket))
    .slice(0, range.limit);
}

/** The totals of each token with these fills. They decide how its candles are read. */
function totalsIn(of: readonly BlockFacts[]): (tokenId: TokenId) => CandleTotals {
  const trades = getFills(of).filter(({ role }) => role !== "taker");
  return (tokenId) => {
    const own = trades.filter((fill) => fill.tokenId === tokenId);
    const priced = own.filter(({ size }) => size > 0n).map(({ timestamp }) => timestamp);
    return {
      trades: own.length,
      firstMinute: priced.length === 0 ? null : toMinute(Math.min(...priced)),
      lastTimestamp: Math.max(0, ...own.map(({ timestamp }) => timestamp)),
    };
  };
}

async function assertSame(
  store: IndexedFacts,
  of: readonly BlockFacts[],
  runs: number,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(anyRange, async ({ areTotalsKnown, ...range }) => {
      const totals = areTotalsKnown ? { getTotals: totalsIn(of) } : {};
      assert.deepEqual(await readCandles(store, { ...range, ...totals }), naive(of, range));
    }),
    propertySettings(runs),
  );
}

describe("candles equal those computed from the trades", () => {
  for (const finalCount of [0, 70, 100]) {
    test(`for ${finalCount} final blocks and ${100 - finalCount} unfinalized ones`, async (t) => {
      const { store } = await StoreFolder.open(t);
      const [final, unfinalized] = [blocks.slice(0, finalCount), blocks.slice(finalCount)];
      await fillStore(store, { final, unfinalized, sizes: [9, 1, 17, 2] });
      await assertSame(store, blocks, 50);
    });
  }

  test("after a restart in the middle of a minute", async (t) => {
    const folder = await StoreFolder.open(t);
    const close = plans
      .slice(0, 40)
      .map((plan) => ({ ...plan, secondsLater: plan.secondsLater % 9 }));
    const dense = getFacts(buildChain(close));
    for (const [from, to] of [
      [0, 15],
      [15, 16],
      [16, 29],
    ] as const) {
      await appendFacts(folder.store, encode(dense.slice(from, to)));
      const store = await folder.reopen();
      await assertSame(store, dense.slice(0, to), 25);
    }
    for (const block of dense.slice(29)) folder.store.apply(toUnfinalizedDelta(block));
    await assertSame(folder.store, dense, 40);
  });

  test("of an outcome by one query for each token, of many outcomes by a few", async (t) => {
    const { store } = await StoreFolder.open(t);
    await fillStore(store, { final: blocks, unfinalized: [], sizes: [100] });
    const outcomes = allPairs.flatMap(([yes, no]) => [
      { same: [yes], inverted: [no] },
      { same: [no], inverted: [yes] },
    ]);
    const query = t.mock.method(store.engine, "queryBinary");
    for (const bucketSeconds of [60, 3600])
      for (const order of ["asc", "desc"] as const) {
        const range = { bucketSeconds, from: 0, to: 2 ** 40, order, limit: 3 };
        const before = query.mock.callCount();
        const many = await readManyCandles(store, range, outcomes);
        assert(query.mock.callCount() - before <= 9, "one query for each length of time");
        const expected = outcomes.map((tokens) => naive(blocks, { ...range, ...tokens }));
        assert.deepEqual(many, expected);
        const getTotals = totalsIn(blocks);
        const from = timestamps[50] ?? 0;
        for (const bounded of [range, { ...range, from }, { ...range, to: from }]) {
          assert.deepEqual(
            await readManyCandles(store, { ...bounded, getTotals }, outcomes),
            outcomes.map((tokens) => naive(blocks, { ...bounded, ...tokens })),
          );
        }
        if (bucketSeconds !== 60) continue;
        for (const [at, tokens] of outcomes.entries()) {
          const first = query.mock.callCount();
          assert.deepEqual(await readCandles(store, { ...range, ...tokens }), expected[at]);
          assert(query.mock.callCount() - first <= 2, "one query for each token");
        }
      }
  });

  test("while blocks become final", async (t) => {
    const heldFrom = 85;
    const { store } = await StoreFolder.open(t);
    await fillStore(store, {
      final: blocks.slice(0, heldFrom),
      unfinalized: blocks.slice(heldFrom),
      sizes: [heldFrom],
    });
    const ranges = fc.sample(anyRange, { seed: testSeed, numRuns: 60 });
    const done = new AbortController();
    const read = async (): Promise<void> => {
      for (let turn = 0; !done.signal.aborted; turn += 1) {
        const range = { ...(ranges[turn % ranges.length] as CandleRange), from: 0, to: 2 ** 40 };
        assert.deepEqual(await readCandles(store, range), naive(blocks, range));
      }
    };
    const readers = [read(), read()];
    for (const block of blocks.slice(heldFrom)) await finalizeFacts(store, block.number);
    done.abort();
    await Promise.all(readers);
  });
});
