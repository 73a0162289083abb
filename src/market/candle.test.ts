/** Compares candles of minutes and of any resolution, merged and inverted, with a naive computation. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { anyChain } from "../../test/support/generate-chain.ts";
import { naiveCandles } from "../../test/support/naive-candles.ts";
import { propertySettings } from "../../test/support/property-settings.ts";
import { testPairs } from "../../test/support/test-markets.ts";
import type { Seq } from "../base/ids.ts";
import { averagePrice, type Candle, mergeCandles, resolutionSeconds } from "./candle.ts";
import { type Fill, toTrade, toTrades } from "./fill.ts";
import { invertCandle } from "./invert.ts";
import { deriveMinuteCandles, type MinuteCandle, toMinute } from "./minute-candle.ts";

const anyFills = anyChain({ blocksMin: 1, blocksMax: 12 }).map((chain) =>
  chain.flatMap(({ fills }) => fills),
);
const allPairs = [...testPairs.legacy, ...testPairs.generation3];

/** Splits items into three parts, as the stream of choices decides. */
function partition<Item>(items: readonly Item[], choices: fc.Stream<number>): Item[][] {
  const parts: Item[][] = [[], [], []];
  for (const item of items) parts[(choices.next().value as number) % 3]?.push(item);
  return parts;
}

function inOrder(minutes: readonly MinuteCandle[]): MinuteCandle[] {
  const getKey = ({ tokenId, minute }: MinuteCandle): string => `${tokenId}${minute}`;
  return minutes.toSorted((a, b) => (getKey(a) < getKey(b) ? -1 : 1));
}

/** Rolls minutes up like the store: inverts those of the other token and merges all of a bucket. */
function rollUp(
  minutes: readonly MinuteCandle[],
  requested: Parameters<typeof naiveCandles>[1],
): Map<number, Candle> {
  const buckets = new Map<number, Candle>();
  for (const minute of minutes) {
    const own = minute.candle;
    const isOwn = requested.same.includes(minute.tokenId);
    if (!(isOwn || requested.inverted.includes(minute.tokenId))) continue;
    const candle = isOwn ? own : invertCandle(own);
    const bucket = minute.minute - (minute.minute % requested.bucketSeconds);
    const existing = buckets.get(bucket);
    buckets.set(bucket, existing === undefined ? candle : mergeCandles(existing, candle));
  }
  return buckets;
}

describe("minute candles", () => {
  test("are the same in any order of the trades", () => {
    fc.assert(
      fc.property(anyFills, fc.infiniteStream(fc.nat()), (fills, choices) => {
        const trades = toTrades(fills);
        const [first = [], second = [], third = []] = partition(trades, choices);
        const shuffled = [...third, ...first, ...second];
        assert.deepEqual(
          inOrder(deriveMinuteCandles(shuffled)),
          inOrder(deriveMinuteCandles(trades)),
        );
      }),
      propertySettings(300),
    );
  });

  test("count every trade with a price once, and no summaries", () => {
    fc.assert(
      fc.property(anyFills, (fills) => {
        const trades = fills.filter((fill) => fill.role !== "taker" && fill.size !== 0n);
        const minutes = deriveMinuteCandles(toTrades(fills));
        const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((a, b) => a + b, 0n);
        const counts = minutes.map(({ candle }) => BigInt(candle.trades));
        const usd = minutes.map(({ candle }) => candle.buyVolumeUsd + candle.sellVolumeUsd);
        assert.equal(sum(counts), BigInt(trades.length));
        assert.equal(sum(usd), sum(trades.map((fill) => fill.value)));
        assert.equal(
          sum(minutes.map((m) => m.candle.volume)),
          sum(trades.map((fill) => fill.size)),
        );
        for (const minute of minutes) {
          const own = trades.filter(
            (fill) => fill.tokenId === minute.tokenId && toMinute(fill.timestamp) === minute.minute,
          );
          assert.equal(minute.candle.trades, own.length);
          assert.equal(minute.candle.close.seq, Math.max(...own.map((fill) => fill.seq)));
        }
      }),
      propertySettings(100),
    );
  });

  test("start on the minute", () => {
    assert.deepEqual([0, 59, 60, 1_700_000_039].map(toMinute), [0, 0, 60, 1_699_999_980]);
  });

  test("do not yield a candle when no trade has a price", () => {
    const minutes = deriveMinuteCandles([toTrade({ ...someFill, size: 0n, value: 1n })]);
    assert.deepEqual(minutes, []);
  });
});

const someFill = {
  seq: 1 as Seq,
  timestamp: 5,
  role: "maker",
  side: "BUY",
  size: 2n,
  value: 1n,
  tokenId: allPairs[0]?.[0],
  exchange: { generation: 1 },
} as Fill;

describe("candles of every resolution", () => {
  test("are exact roll-ups of minutes, for one token and for the pair", () => {
    const anyRequested = fc.record({
      pair: fc.constantFrom(...allPairs),
      isPair: fc.boolean(),
      bucketSeconds: fc.constantFrom(...Object.values(resolutionSeconds)),
    });
    fc.assert(
      fc.property(anyFills, anyRequested, (fills, { pair, isPair, bucketSeconds }) => {
        const minutes = deriveMinuteCandles(toTrades(fills));
        for (const [tokenId, other] of [pair, pair.toReversed()] as const) {
          assert(tokenId !== undefined && other !== undefined);
          const requested = { same: [tokenId], inverted: isPair ? [other] : [], bucketSeconds };
          assert.deepEqual(rollUp(minutes, requested), naiveCandles(fills, requested));
        }
      }),
      propertySettings(300),
    );
  });

  const anyCandle = fc
    .record({
      seqs: fc.tuple(fc.nat(1000), fc.nat(1000)),
      prices: fc.array(fc.bigInt({ min: -2_000_000n, max: 2_000_000n }), {
        minLength: 1,
        maxLength: 4,
      }),
      volume: fc.bigInt({ min: 1n, max: 10n ** 24n }),
      usd: fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 24n }), fc.bigInt({ min: 0n, max: 10n })),
    })
    .map(({ seqs, prices, volume, usd }): Candle => {
      const sorted = prices.toSorted((a, b) => (a < b ? -1 : 1));
      const [first = 0n, last = first] = [prices[0], prices.at(-1)];
      return {
        open: { seq: Math.min(...seqs) as Seq, price: first },
        close: { seq: Math.max(...seqs) as Seq, price: last },
        high: sorted.at(-1) ?? 0n,
        low: sorted[0] ?? 0n,
        volume,
        buyVolumeUsd: usd[0],
        sellVolumeUsd: usd[1],
        priceVolume: usd[0] + usd[1],
        trades: 1,
      };
    });

  test("are unchanged after they are inverted twice", () => {
    fc.assert(
      fc.property(anyCandle, (candle) => {
        assert.deepEqual(invertCandle(invertCandle(candle)), candle);
      }),
      propertySettings(300),
    );
  });

  test("can be merged before or after they are inverted", () => {
    fc.assert(
      fc.property(anyCandle, anyCandle, (a, b) => {
        fc.pre(a.open.seq !== b.open.seq && a.close.seq !== b.close.seq);
        assert.deepEqual(
          invertCandle(mergeCandles(a, b)),
          mergeCandles(invertCandle(a), invertCandle(b)),
        );
      }),
      propertySettings(300),
    );
  });

  test("can be merged in any order and grouping", () => {
    fc.assert(
      fc.property(anyCandle, anyCandle, anyCandle, (a, b, c) => {
        fc.pre(new Set([a, b, c].flatMap(({ open, close }) => [open.seq, close.seq])).size === 6);
        const merged = mergeCandles(mergeCandles(a, b), c);
        assert.deepEqual(mergeCandles(a, mergeCandles(b, c)), merged);
        assert.deepEqual(mergeCandles(c, mergeCandles(b, a)), merged);
      }),
      propertySettings(300),
    );
  });

  test("have average prices that add up to 1 for the two tokens of a pair", () => {
    fc.assert(
      fc.property(anyCandle, (candle) => {
        const inverted = averagePrice(invertCandle(candle));
        assert.equal(inverted, 1_000_000n - (averagePrice(candle) ?? 0n));
      }),
      propertySettings(300),
    );
  });
});
