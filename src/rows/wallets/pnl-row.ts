import { type Static, Type } from "typebox";
import { formatMicros } from "../../base/decimal.ts";
import type { PositionSums } from "../../market/ledger/valued-position.ts";
import type { PnlBucket } from "../../market/ledger/wallet-totals.ts";
import * as wire from "../wire-format.ts";

const count = Type.Integer({ minimum: 0 });

/** The profit and trades of a wallet in one bucket of time, and from the first bucket through this one. */
export const pnlRow = Type.Object({
  ...wire.timeShape,
  complete: Type.Boolean(),
  cost_complete: Type.Boolean(),
  realized_pnl: wire.nullableDecimal,
  fees_usd: wire.decimalText,
  volume_usd: wire.decimalText,
  trades: count,
  cumulative_realized_pnl: wire.nullableDecimal,
  cumulative_fees_usd: wire.decimalText,
  cumulative_volume_usd: wire.decimalText,
  cumulative_trades: count,
});

/** A bucket, and the sums through its end. */
export type PnlPoint = PnlBucket & { readonly cumulative: Omit<PnlBucket, "bucket"> };

/** Adds the sums through each bucket. Buckets come in order. */
export function toPnlPoints(buckets: readonly PnlBucket[]): PnlPoint[] {
  let before = { realized: 0n, trades: 0, volume: 0n, fees: 0n };
  return buckets.map((one) => {
    before = {
      realized: before.realized + one.realized,
      trades: before.trades + one.trades,
      volume: before.volume + one.volume,
      fees: before.fees + one.fees,
    };
    return { ...one, cumulative: before };
  });
}

/**
 * Returns how to present the buckets of a wallet. Profit is that of the positions whose whole ledger is indexed; without
 * any, it is not known.
 */
export function toPnlRows(sums: PositionSums): (point: PnlPoint) => Static<typeof pnlRow> {
  const { isComplete, isCostComplete, hasAmounts } = sums;
  return ({ bucket, realized, fees, volume, trades, cumulative }) => ({
    ...wire.timeFields(bucket),
    complete: isComplete,
    cost_complete: isCostComplete,
    realized_pnl: hasAmounts ? formatMicros(realized) : null,
    fees_usd: formatMicros(fees),
    volume_usd: formatMicros(volume),
    trades,
    cumulative_realized_pnl: hasAmounts ? formatMicros(cumulative.realized) : null,
    cumulative_fees_usd: formatMicros(cumulative.fees),
    cumulative_volume_usd: formatMicros(cumulative.volume),
    cumulative_trades: cumulative.trades,
  });
}
