/** Candles computed directly from trades, bucket by bucket: slow, and without merging. */
import { priceMicros } from "../../src/base/decimal.ts";
import type { TokenId } from "../../src/base/ids.ts";
import type { Candle } from "../../src/market/candle.ts";
import type { Fill } from "../../src/market/fill.ts";

const onePrice = 1_000_000n;

/** A trade at the price of the requested token. */
type Print = {
  readonly fill: Fill;
  readonly price: bigint;
  readonly isBuy: boolean;
  readonly worth: bigint;
};

/** The candles of some tokens by the start of their bucket. Trades of `inverted` tokens count at 1 - p. */
export function naiveCandles(
  fills: readonly Fill[],
  candleQuery: {
    readonly same: readonly TokenId[];
    readonly inverted: readonly TokenId[];
    readonly bucketSeconds: number;
  },
): Map<number, Candle> {
  const { same, inverted, bucketSeconds } = candleQuery;
  const prints = fills
    .filter((fill) => fill.role !== "taker" && fill.size > 0n)
    .toSorted((a, b) => a.seq - b.seq)
    .flatMap((fill) => {
      if (same.includes(fill.tokenId)) return [ownPrint(fill)];
      return inverted.includes(fill.tokenId) ? [invertedPrint(fill)] : [];
    });
  const buckets = Map.groupBy(
    prints,
    ({ fill }) => Math.floor(fill.timestamp / bucketSeconds) * bucketSeconds,
  );
  return new Map([...buckets].map(([bucket, own]) => [bucket, getCandle(own)]));
}

function ownPrint(fill: Fill): Print {
  const price = priceMicros(fill.value, fill.size) ?? 0n;
  return { fill, price, isBuy: fill.side === "BUY", worth: fill.value };
}

/** The price is rounded on the other token, where the trade took place, and then inverted. */
function invertedPrint(fill: Fill): Print {
  const { price, isBuy } = ownPrint(fill);
  return { fill, price: onePrice - price, isBuy: !isBuy, worth: fill.size - fill.value };
}

function getCandle(prints: readonly Print[]): Candle {
  const [first, last] = [prints[0], prints.at(-1)];
  if (first === undefined || last === undefined) throw new Error("a bucket has a trade");
  const prices = prints.map(({ price }) => price).toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return {
    open: { seq: first.fill.seq, price: first.price },
    close: { seq: last.fill.seq, price: last.price },
    high: prices.at(-1) ?? 0n,
    low: prices[0] ?? 0n,
    volume: sum(prints.map(({ fill }) => fill.size)),
    buyVolumeUsd: sum(prints.filter(({ isBuy }) => isBuy).map(({ fill }) => fill.value)),
    sellVolumeUsd: sum(prints.filter(({ isBuy }) => !isBuy).map(({ fill }) => fill.value)),
    priceVolume: sum(prints.map(({ worth }) => worth)),
    trades: prints.length,
  };
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}
