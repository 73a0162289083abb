import { type Static, Type } from "typebox";
import { formatMicros } from "../base/decimal.ts";
import * as wire from "./wire-format.ts";

const count = Type.Integer({ minimum: 0 });

/** The totals of the platform in a bucket of time. */
export const statsRow = Type.Object({
  ...wire.timeShape,
  trades: count,
  volume_usd: wire.decimalText,
  fees_usd: wire.nullableDecimal,
  active_markets: wire.nullable(count),
  traders: wire.nullable(count),
  new_markets: wire.nullable(count),
  resolved_markets: wire.nullable(count),
});

/** The totals of a bucket, which begins at `bucket`, Unix seconds. Amounts are micros; `null` is not counted. */
export type StatsPoint = {
  readonly bucket: number;
  readonly trades: number;
  readonly volumeUsd: bigint;
  readonly feesUsd: bigint | null;
  readonly activeMarkets: number | null;
  readonly traders: number | null;
  readonly newMarkets: number | null;
  readonly resolvedMarkets: number | null;
};

/** A bucket as clients see it. */
export function toStatsRow(point: StatsPoint): Static<typeof statsRow> {
  return {
    ...wire.timeFields(point.bucket),
    trades: point.trades,
    volume_usd: formatMicros(point.volumeUsd),
    fees_usd: wire.decimalOrNull(point.feesUsd),
    active_markets: point.activeMarkets,
    traders: point.traders,
    new_markets: point.newMarkets,
    resolved_markets: point.resolvedMarkets,
  };
}
