/** Both forms of a filter agree. The store uses SQL for final rows and the predicate above finality. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { priceMicros } from "../../src/base/decimal.ts";
import type { Fill } from "../../src/market/fill.ts";
import { type FillFilter, toFillCondition } from "../../src/query/fill-filter.ts";
import { readFills } from "../../src/query/read-fills.ts";
import { anyBlockPlan, buildChain } from "../support/generate-chain.ts";
import { propertySettings, testSeed } from "../support/property-settings.ts";
import { fillStore, getFacts, getFills } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";

/** Filters by values of the rows and by values close to them. Other values would match nothing. */
function anyFilter(fills: readonly Fill[]): fc.Arbitrary<FillFilter> {
  const row = fc.constantFrom(...fills);
  const near = fc.bigInt({ min: -1n, max: 1n });
  const nearby = fc.integer({ min: -1, max: 1 });
  const pick = <Value>(of: (fill: Fill) => Value): fc.Arbitrary<Value> => row.map(of);
  const anyPrice = fc.tuple(row, near, fc.boolean()).map(([{ value, size }, off, isInverted]) => {
    const price = (priceMicros(value, size) ?? 10n ** 38n) + off;
    return isInverted ? 1_000_000n - price : price;
  });
  // A new condition of `FillFilter` must be added here, or this does not compile.
  const conditions = {
    roles: fc.uniqueArray(fc.constantFrom("maker", "taker", "direct"), { minLength: 1 }),
    tokenIds: fc.array(
      pick((fill) => fill.tokenId),
      { maxLength: 3 },
    ),
    invertedTokenIds: fc.array(
      pick((fill) => fill.tokenId),
      { maxLength: 2 },
    ),
    side: pick((fill) => fill.side),
    makerTokenIds: fc.array(
      pick((fill) => fill.makerTokenId),
      { maxLength: 3 },
    ),
    makerSide: pick((fill) => fill.makerSide),
    makerValueMin: fc
      .tuple(row, near, fc.boolean())
      .map(([fill, off, isMaker]) => (isMaker ? fill.makerAmount : fill.takerAmount) + off),
    sizeMin: fc.tuple(row, near).map(([fill, off]) => fill.size + off),
    sizeMax: fc.tuple(row, near).map(([fill, off]) => fill.size + off),
    valueMin: fc.tuple(row, near).map(([fill, off]) => fill.value + off),
    priceMin: anyPrice,
    priceMax: anyPrice,
    builder: pick((fill) => fill.builder ?? fill.orderHash),
    maker: pick((fill) => fill.maker),
    taker: pick((fill) => fill.taker),
    wallet: pick((fill) => fill.maker),
    exchange: pick((fill) => fill.exchange.exchange),
    matchType: pick((fill) => fill.matchType ?? "mint"),
    txHash: pick((fill) => fill.txHash),
    orderHash: pick((fill) => fill.orderHash),
    timestampFrom: fc.tuple(row, nearby).map(([fill, off]) => fill.timestamp + off),
    timestampTo: fc.tuple(row, nearby).map(([fill, off]) => fill.timestamp + off),
    seqFrom: fc.tuple(row, nearby).map(([fill, off]) => fill.seq + off),
    seqTo: fc.tuple(row, nearby).map(([fill, off]) => fill.seq + off),
    matchSeqFrom: fc.tuple(row, nearby).map(([fill, off]) => (fill.matchSeq ?? fill.seq) + off),
  } satisfies Record<keyof FillFilter, fc.Arbitrary<unknown>>;
  return fc.record(conditions, { requiredKeys: [] }) as unknown as fc.Arbitrary<FillFilter>;
}

/** Filters with at most three conditions, so that some rows pass. */
function anyShortFilter(fills: readonly Fill[]): fc.Arbitrary<FillFilter> {
  return fc.tuple(anyFilter(fills), fc.infiniteStream(fc.nat())).map(([filter, keys]) => {
    const kept = Object.entries(filter)
      .map((entry) => ({ entry, key: keys.next().value as number }))
      .toSorted((a, b) => a.key - b.key)
      .slice(0, 3);
    return Object.fromEntries(kept.map(({ entry }) => entry)) as FillFilter;
  });
}

test("the store returns the rows that pass the predicate, through SQL and in memory", async (t) => {
  const { store } = await StoreFolder.open(t);
  const plans = fc.sample(anyBlockPlan(), { seed: testSeed, numRuns: 150 });
  const blocks = getFacts(buildChain(plans));
  await fillStore(store, {
    final: blocks.slice(0, 110),
    unfinalized: blocks.slice(110),
    sizes: [7, 1],
  });
  const fills = getFills(blocks);
  const finalFills = getFills(blocks.slice(0, 110));
  const common = { order: "asc", after: null, limit: fills.length } as const;
  const settings = propertySettings(400);
  let found = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(anyShortFilter(fills), anyFilter(fills)),
      fc.boolean(),
      async (filter, finalizedOnly) => {
        const passing = (finalizedOnly ? finalFills : fills).filter(toFillCondition(filter).holds);
        found += passing.length;
        assert.deepEqual(await readFills(store, { filter, finalizedOnly, ...common }), passing);
      },
    ),
    settings,
  );
  assert(found > settings.numRuns, `the filters were not so strict that nothing passed: ${found}`);
});
