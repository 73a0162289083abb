import { type Static, Type } from "typebox";
import type { Market, Resolution } from "../market/market.ts";
import { payoutFields } from "./market-row.ts";
import { idFields, placeFields, type RowContext, tradeRow } from "./trade-row.ts";
import {
  addressText,
  conditionIdText,
  decimalText,
  formatConditionId,
  hashText,
  tokenIdText,
} from "./wire-format.ts";

const { id, seq, block_number, block_hash, log_index, tx_hash } = tradeRow.properties;
const { timestamp, timestamp_ms, status } = tradeRow.properties;

/** How one condition ended. */
export const resolutionRow = Type.Object({
  id,
  seq,
  condition_id: conditionIdText,
  question_id: Type.Union([hashText, Type.Null()]),
  oracle: addressText,
  payouts: Type.Array(decimalText, { description: "One per outcome, summing to 1" }),
  winning_token_id: Type.Union([tokenIdText, Type.Null()]),
  winning_outcome: Type.Union([Type.String(), Type.Null()]),
  block_number,
  block_hash,
  log_index,
  tx_hash,
  timestamp,
  timestamp_ms,
  status,
});
export type ResolutionRow = Static<typeof resolutionRow>;

/** A resolution as clients see it; `market` is that of its condition where it is known. */
export function presentResolution(
  resolution: Resolution,
  market: Market | null,
  context: RowContext,
): ResolutionRow {
  return {
    ...idFields(resolution),
    condition_id: formatConditionId(resolution.conditionId),
    question_id: resolution.questionId,
    oracle: resolution.oracle,
    ...payoutFields(market ?? { tokens: [] }, resolution),
    ...placeFields(resolution, context),
  };
}
