import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { propertySettings } from "../../../test/support/property-settings.ts";
import type { Seq } from "../../base/ids.ts";
import { packCandles, unpackCandles } from "./pack-candles.ts";

const anySeq = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.maxSafeInteger()).map(Math.abs);
/** As large as a `Decimal(38, 6)` can be, and around what fits into fewer bytes. */
const anyAmount = fc.oneof(
  fc.bigInt({ min: 0n, max: 300n }),
  fc.bigInt({ min: 0n, max: 2n ** 64n }),
  fc.bigInt({ min: 0n, max: 10n ** 38n - 1n }),
  fc.integer({ min: 0, max: 126 }).map((bits) => 2n ** BigInt(bits) - 1n),
);

const anySigned = fc
  .tuple(anyAmount, fc.boolean())
  .map(([amount, isNegative]) => (isNegative ? -amount : amount));

const anyCandle = fc
  .record({
    minute: fc.integer({ min: 0, max: 70_000_000 }),
    seqs: fc.tuple(anySeq, anySeq).map((pair) => pair.toSorted((a, b) => a - b)),
    prices: fc.array(anySigned, { minLength: 4, maxLength: 4 }),
    isOpenLower: fc.boolean(),
    volume: anySigned,
    buyVolumeUsd: anySigned,
    sellVolumeUsd: anySigned,
    trades: anySeq,
  })
  .map(({ minute, seqs, prices, isOpenLower, volume, buyVolumeUsd, sellVolumeUsd, trades }) => {
    const [low = 0n, first = 0n, second = 0n, high = 0n] = prices.toSorted((a, b) =>
      a < b ? -1 : Number(a > b),
    );
    const [openSeq, closeSeq] = seqs as [Seq, Seq];
    const [open, close] = isOpenLower ? [first, second] : [second, first];
    const candle = {
      open: { seq: openSeq, price: open },
      close: { seq: closeSeq, price: close },
      high,
      low,
      volume,
      buyVolumeUsd,
      sellVolumeUsd,
      priceVolume: buyVolumeUsd + sellVolumeUsd,
      trades,
    };
    return { bucket: minute * 60, candle };
  });

describe("packed candles", () => {
  test("are those that were packed, whatever they hold", () => {
    fc.assert(
      fc.property(fc.array(anyCandle, { maxLength: 5 }), (candles) => {
        assert.deepEqual([...unpackCandles(packCandles(candles))], candles);
      }),
      propertySettings(500),
    );
  });

  test("take few bytes", () => {
    const tick = { seq: 41_000_000_000_123 as Seq, price: 510_000n };
    const amounts = { volume: 25_000_000n, buyVolumeUsd: 12_750_000n, sellVolumeUsd: 0n };
    const prices = { open: tick, close: tick, high: 510_000n, low: 510_000n };
    const candle = { ...prices, ...amounts, priceVolume: 12_750_000n, trades: 4 };
    assert.ok(packCandles([{ bucket: 1_780_000_020, candle }]).length <= 30);
  });

  test("that are cut short are refused", () => {
    const [one] = fc.sample(anyCandle, 1);
    assert.ok(one !== undefined);
    const packed = packCandles([one]);
    assert.throws(() => [...unpackCandles(packed.subarray(0, -1))]);
  });
});
