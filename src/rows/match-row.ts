import { type Static, Type } from "typebox";
import { formatMicros, priceMicros } from "../base/decimal.ts";
import type { Fill } from "../market/fill.ts";
import * as trade from "./trade-row.ts";
import * as wire from "./wire-format.ts";

/** One match: a taker's order with all its legs. `size` and `value_usd` are sums over the legs. */
export const matchRow = Type.Object({
  ...trade.idShape,
  taker_fill_seq: wire.seqNumber,
  ...trade.tokenShape,
  side: wire.sideText,
  price: wire.nullable(wire.decimalText, { description: "value_usd over size" }),
  size: wire.decimalText,
  value_usd: wire.decimalText,
  legs: Type.Integer(),
  taker: wire.addressText,
  taker_order_hash: wire.hashText,
  taker_fee: wire.decimalText,
  taker_fee_net: wire.decimalText,
  taker_fee_asset: trade.tradeRow.properties.maker_fee_asset,
  ...trade.exchangeShape,
  ...trade.orderShape,
  ...trade.locationShape,
  maker_amount_raw: wire.rawAmountText,
  taker_amount_raw: wire.rawAmountText,
  ...trade.marketFields,
});
export type MatchRow = Static<typeof matchRow>;

/** A match as clients see it, built from the summary of its taker. */
export function toMatchRow(summary: Fill, context: trade.RowContext): MatchRow {
  const location = { ...summary, seq: summary.matchSeq ?? summary.seq };
  return {
    ...trade.idFields(location),
    taker_fill_seq: summary.seq,
    ...trade.toTokenFields(context.getToken(summary.tokenId)),
    side: summary.side,
    price: wire.decimalOrNull(priceMicros(summary.value, summary.size)),
    size: formatMicros(summary.size),
    value_usd: formatMicros(summary.value),
    legs: summary.legs,
    taker: summary.maker,
    taker_order_hash: summary.orderHash,
    taker_fee: formatMicros(summary.fee),
    taker_fee_net: formatMicros(summary.fee - summary.feeRefund),
    taker_fee_asset: trade.getFeeAsset(summary),
    ...trade.exchangeFields(summary),
    builder: summary.builder,
    metadata: summary.metadata,
    ...trade.locationFields(location, context),
    maker_amount_raw: summary.makerAmount.toString(),
    taker_amount_raw: summary.takerAmount.toString(),
  };
}
