import assert from "node:assert/strict";
import type { Fill } from "../../src/market/fill.ts";
import type { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { naiveCandles } from "./naive-candles.ts";

/** The copy for charts has every candle of every token once, of the days it is said to have. */
export async function assertChartsHold(store: IndexedFacts, fills: readonly Fill[]): Promise<void> {
  const { before } = store.charts;
  for (const tokenId of new Set(fills.map((fill) => fill.tokenId))) {
    for (const bucketSeconds of [60, 3600, 86_400]) {
      const wanted = [...naiveCandles(fills, { tokenId, complement: null, bucketSeconds })]
        .map(([bucket, candle]) => ({ bucket, candle }))
        .filter(({ bucket }) => bucket < before)
        .toSorted((a, b) => a.bucket - b.bucket);
      const range = { tokenIds: [tokenId], bucketSeconds, from: 0, to: 2 ** 40, limit: 10_000 };
      const found = await store.charts.read({ ...range, order: "asc" });
      assert(found !== null, "the copy is read");
      assert.deepEqual(found.get(tokenId) ?? [], wanted);
    }
  }
}
