import assert from "node:assert/strict";
import type { TokenId } from "../../src/base/ids.ts";
import { mergeCandles } from "../../src/market/candle.ts";
import type { Fill } from "../../src/market/fill.ts";
import { chartLevels } from "../../src/store/chart-database.ts";
import type { FactStore } from "../../src/store/fact-store.ts";
import type { BucketCandle } from "../../src/store/newest-candles.ts";
import { unpackCandles } from "../../src/store/pack-candles.ts";
import { naiveCandles } from "./naive-candles.ts";

/** The copy for charts has every candle of every token once, of the days it is said to have. */
export function assertChartsHold(store: FactStore, fills: readonly Fill[]): void {
  const { before } = store.charts;
  for (const tokenId of new Set(fills.map((fill) => fill.tokenId))) {
    for (const level of [chartLevels.minutes, chartLevels.hours, chartLevels.day]) {
      const wanted = [...naiveCandles(fills, { tokenId, complement: null, bucketSeconds: level })]
        .map(([bucket, candle]) => ({ bucket, candle }))
        .filter(({ bucket }) => bucket < before)
        .toSorted((a, b) => a.bucket - b.bucket);
      assert.deepEqual(copied(store, tokenId, level), wanted);
    }
  }
}

function copied(store: FactStore, tokenId: TokenId, level: 60 | 3600 | 86_400): BucketCandle[] {
  const buckets = new Map<number, BucketCandle>();
  const range = { tokenId, level, from: 0, to: 2 ** 40, order: "asc" } as const;
  for (const packed of store.charts.read(range)) {
    for (const { bucket: start, candle } of unpackCandles(packed)) {
      const bucket = start - (start % level);
      const known = buckets.get(bucket);
      const whole = known === undefined ? candle : mergeCandles(known.candle, candle);
      buckets.set(bucket, { bucket, candle: whole });
    }
  }
  return [...buckets.values()];
}
