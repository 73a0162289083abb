import { type Static, Type } from "typebox";
import { divideHalfEven, formatMicros, microsPerUnit } from "../../base/decimal.ts";
import { formatTokenId } from "../../base/ids.ts";
import type { MarketDirectory } from "../../views/markets/market-directory.ts";
import type { Fraction, ValuedPosition } from "../../views/prices/position-value.ts";
import { marketRow } from "../market-row.ts";
import * as wire from "../wire-format.ts";

const decimalNullable = wire.nullable(wire.decimalText);

/** What a wallet holds of one token. */
export const positionRow = Type.Object({
  token_id: wire.tokenIdText,
  complement_token_id: wire.nullable(wire.tokenIdText),
  condition_id: wire.nullable(wire.conditionIdText),
  outcome: wire.nullable(Type.String()),
  outcome_index: wire.nullable(Type.Integer()),
  question: marketRow.properties.question,
  slug: marketRow.properties.slug,
  event_id: marketRow.properties.event_id,
  neg_risk: wire.nullable(Type.Boolean()),
  complete: Type.Boolean(),
  cost_complete: Type.Boolean(),
  size: decimalNullable,
  size_raw: wire.nullable(wire.rawAmountText),
  cost_known_size: decimalNullable,
  avg_price: decimalNullable,
  cost_usd: decimalNullable,
  fees_usd: decimalNullable,
  price: decimalNullable,
  value_usd: decimalNullable,
  realized_pnl: decimalNullable,
  unrealized_pnl: decimalNullable,
  total_pnl: decimalNullable,
  unknown_proceeds_usd: decimalNullable,
  bought: decimalNullable,
  sold: decimalNullable,
  status: Type.Enum(["open", "redeemable", "lost", "closed"]),
  mergeable_size: decimalNullable,
  payout: decimalNullable,
  first_seen: wire.timeText,
  first_seen_ms: wire.millisecondsNumber,
  last_active: wire.timeText,
  last_active_ms: wire.millisecondsNumber,
  last_seq: wire.seqNumber,
});
export type PositionRow = Static<typeof positionRow>;

/** A position as clients see it. Amounts that depend on transfers before the coverage are `null`. */
export function presentPosition(position: ValuedPosition, directory: MarketDirectory): PositionRow {
  const { tokenId, known, isComplete } = position;
  const place = directory.getPlace(tokenId);
  const market = place && directory.market(place.conditionId);
  const complement = directory.getComplement(tokenId);
  const amount = (micros: bigint | null) => (isComplete ? wire.decimalOrNull(micros) : null);
  const { cost, feeCost, realized, unrealized } = position;
  return {
    token_id: formatTokenId(tokenId),
    complement_token_id: complement && formatTokenId(complement),
    condition_id: place && wire.formatConditionId(place.conditionId),
    outcome: market?.tokens[place?.outcomeIndex ?? -1]?.outcome ?? null,
    outcome_index: place?.outcomeIndex ?? null,
    question: market?.question ?? null,
    slug: market?.venue?.slug ?? null,
    event_id: market?.eventId ?? null,
    neg_risk: market?.negRisk ?? null,
    complete: isComplete,
    cost_complete: isComplete && known === position.shares,
    size: amount(position.shares),
    size_raw: isComplete ? position.shares.toString() : null,
    cost_known_size: amount(known),
    avg_price: amount(known === 0n ? null : divideHalfEven(cost * microsPerUnit, known)),
    cost_usd: amount(cost + feeCost),
    fees_usd: formatMicros(position.fees),
    price: fractionText(position.price),
    value_usd: amount(position.value),
    realized_pnl: amount(realized),
    unrealized_pnl: amount(unrealized),
    total_pnl: amount(unrealized === null ? null : realized + unrealized),
    unknown_proceeds_usd: amount(position.unknownProceeds),
    bought: formatMicros(position.bought),
    sold: formatMicros(position.sold),
    status: position.status,
    mergeable_size: amount(position.mergeable),
    payout: fractionText(position.payout),
    first_seen: wire.formatTime(position.firstTimestamp),
    first_seen_ms: position.firstTimestamp * 1000,
    last_active: wire.formatTime(position.lastTimestamp),
    last_active_ms: position.lastTimestamp * 1000,
    last_seq: position.lastSeq,
  };
}

function fractionText(price: Fraction | null): string | null {
  if (price === null) return null;
  return formatMicros(divideHalfEven(price.numerator * microsPerUnit, price.denominator));
}
