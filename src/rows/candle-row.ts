import { type Static, Type } from "typebox";
import { formatMicros } from "../base/decimal.ts";
import { averagePrice, type BucketCandle } from "../market/candle.ts";
import * as wire from "./wire-format.ts";

/** One candle. `volume_usd` sums the taker's half of each trade. */
export const candleRow = Type.Object({
  ...wire.timeShape,
  open: wire.decimalText,
  high: wire.decimalText,
  low: wire.decimalText,
  close: wire.decimalText,
  volume_shares: wire.decimalText,
  volume_usd: wire.decimalText,
  buy_volume_usd: wire.decimalText,
  sell_volume_usd: wire.decimalText,
  trades: Type.Integer(),
  vwap: wire.nullableDecimal,
  closed: Type.Boolean({ description: "Chain time has passed the end of the bucket" }),
  filled: Type.Boolean(),
});
export type CandleRow = Static<typeof candleRow>;

/** A candle as clients see it, at the time `now`, unix seconds. One of 0 trades fills a bucket without trades. */
export function toCandleRow(
  { bucket, candle }: BucketCandle,
  { bucketSeconds, now }: { readonly bucketSeconds: number; readonly now: number },
): CandleRow {
  return {
    ...wire.timeFields(bucket),
    open: formatMicros(candle.open.price),
    high: formatMicros(candle.high),
    low: formatMicros(candle.low),
    close: formatMicros(candle.close.price),
    volume_shares: formatMicros(candle.volume),
    volume_usd: formatMicros(candle.buyVolumeUsd + candle.sellVolumeUsd),
    buy_volume_usd: formatMicros(candle.buyVolumeUsd),
    sell_volume_usd: formatMicros(candle.sellVolumeUsd),
    trades: candle.trades,
    vwap: wire.decimalOrNull(averagePrice(candle)),
    closed: bucket + bucketSeconds <= now,
    filled: candle.trades === 0,
  };
}
