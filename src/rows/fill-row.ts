import { type Static, Type } from "typebox";
import { formatMicros } from "../base/decimal.ts";
import type { Fill } from "../market/fill.ts";
import {
  exchangeFields,
  feeAssetOf,
  idFields,
  marketFields,
  placeFields,
  type RowContext,
  tokenFields,
  tradeRow,
} from "./trade-row.ts";
import { decimalText, hashText, rawAmountText, sideText } from "./wire-format.ts";

const { id, seq, token_id, complement_token_id, condition_id, outcome, outcome_index } =
  tradeRow.properties;
const { match_seq, maker, taker, exchange, exchange_version, exchange_address, module } =
  tradeRow.properties;
const { builder, metadata, block_number, block_hash, log_index, tx_hash } = tradeRow.properties;
const { timestamp, timestamp_ms, status } = tradeRow.properties;

/** One `OrderFilled` as the chain has it; `role` distinguishes a leg from the taker's own summary. */
export const fillRow = Type.Object({
  id,
  seq,
  role: Type.Union([Type.Literal("maker"), Type.Literal("taker"), Type.Literal("direct")], {
    description: "maker: a leg of a match; taker: its summary; direct: filled by an operator",
  }),
  order_hash: hashText,
  maker,
  taker,
  side: sideText,
  token_id,
  complement_token_id,
  condition_id,
  outcome,
  outcome_index,
  maker_amount_raw: rawAmountText,
  taker_amount_raw: rawAmountText,
  fee: decimalText,
  fee_net: decimalText,
  fee_asset: tradeRow.properties.maker_fee_asset,
  match_seq,
  exchange,
  exchange_version,
  exchange_address,
  module,
  builder,
  metadata,
  block_number,
  block_hash,
  log_index,
  tx_hash,
  timestamp,
  timestamp_ms,
  status,
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
