import { type Static, Type } from "typebox";
import { formatMicros } from "../base/decimal.ts";
import type { Fill } from "../market/fill.ts";
import {
  exchangeFields,
  exchangeShape,
  feeAssetOf,
  idFields,
  idShape,
  marketFields,
  orderShape,
  placeFields,
  placeShape,
  type RowContext,
  tokenFields,
  tokenShape,
  tradeRow,
} from "./trade-row.ts";
import { decimalText, hashText, rawAmountText, sideText } from "./wire-format.ts";

const { match_seq, maker, taker, maker_fee_asset } = tradeRow.properties;

/** One `OrderFilled` as the chain has it; `role` distinguishes a leg from the taker's own summary. */
export const fillRow = Type.Object({
  ...idShape,
  role: Type.Enum(["maker", "taker", "direct"], {
    description: "maker: a leg of a match; taker: its summary; direct: filled by an operator",
  }),
  order_hash: hashText,
  maker,
  taker,
  side: sideText,
  ...tokenShape,
  maker_amount_raw: rawAmountText,
  taker_amount_raw: rawAmountText,
  fee: decimalText,
  fee_net: decimalText,
  fee_asset: maker_fee_asset,
  match_seq,
  ...exchangeShape,
  ...orderShape,
  ...placeShape,
  ...marketFields,
});
export type FillRow = Static<typeof fillRow>;

/** A fill as clients see it: the order's own view, whatever the taker traded. */
export function presentFill(fill: Fill, context: RowContext): FillRow {
  return {
    ...idFields(fill),
    role: fill.role,
    order_hash: fill.orderHash,
    maker: fill.maker,
    taker: fill.taker,
    side: fill.makerSide,
    ...tokenFields(fill.makerTokenId, context.directory),
    maker_amount_raw: fill.makerAmount.toString(),
    taker_amount_raw: fill.takerAmount.toString(),
    fee: formatMicros(fill.fee),
    fee_net: formatMicros(fill.fee - fill.feeRefund),
    fee_asset: feeAssetOf(fill),
    match_seq: fill.matchSeq,
    ...exchangeFields(fill),
    builder: fill.builder,
    metadata: fill.metadata,
    ...placeFields(fill, context),
  };
}
