import { type Static, Type } from "typebox";
import { formatMicros } from "../base/decimal.ts";
import type { Fill } from "../market/fill.ts";
import * as trade from "./trade-row.ts";
import { decimalText, hashText, rawAmountText, sideText } from "./wire-format.ts";

const { match_seq, maker, taker, maker_fee_asset } = trade.tradeRow.properties;

/** One `OrderFilled` log. `role` distinguishes a leg from the taker's summary. */
export const fillRow = Type.Object({
  ...trade.idShape,
  role: Type.Enum(["maker", "taker", "direct"], {
    description: "maker: a leg of a match; taker: its summary; direct: filled by an operator",
  }),
  order_hash: hashText,
  maker,
  taker,
  side: sideText,
  ...trade.tokenShape,
  maker_amount_raw: rawAmountText,
  taker_amount_raw: rawAmountText,
  fee: decimalText,
  fee_net: decimalText,
  fee_asset: maker_fee_asset,
  match_seq,
  ...trade.exchangeShape,
  ...trade.orderShape,
  ...trade.locationShape,
  ...trade.marketFields,
});
export type FillRow = Static<typeof fillRow>;

/** A fill as clients see it: side and token are those of the order, not those of the taker. */
export function toFillRow(fill: Fill, context: trade.RowContext): FillRow {
  return {
    ...trade.idFields(fill),
    role: fill.role,
    order_hash: fill.orderHash,
    maker: fill.maker,
    taker: fill.taker,
    side: fill.makerSide,
    ...trade.toTokenFields(context.getToken(fill.makerTokenId)),
    maker_amount_raw: fill.makerAmount.toString(),
    taker_amount_raw: fill.takerAmount.toString(),
    fee: formatMicros(fill.fee),
    fee_net: formatMicros(fill.fee - fill.feeRefund),
    fee_asset: trade.getFeeAsset(fill),
    match_seq: fill.matchSeq,
    ...trade.exchangeFields(fill),
    builder: fill.builder,
    metadata: fill.metadata,
    ...trade.locationFields(fill, context),
  };
}
