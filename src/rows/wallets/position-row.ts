import { type Static, Type } from "typebox";
import { divideHalfEven, formatMicros, microsPerUnit } from "../../base/decimal.ts";
import type { Fraction, ValuedPosition } from "../../market/ledger/valued-position.ts";
import type { TokenFacts } from "../../market/market.ts";
import { marketRow } from "../market-row.ts";
import { tokenShape, toMarketFields, toTokenFields } from "../trade-row.ts";
import * as wire from "../wire-format.ts";

/** What a wallet holds of one token. */
export const positionRow = Type.Object({
  ...tokenShape,
  question: marketRow.properties.question,
  slug: marketRow.properties.slug,
  event_id: marketRow.properties.event_id,
  neg_risk: wire.nullable(Type.Boolean()),
  complete: Type.Boolean(),
  cost_complete: Type.Boolean(),
  size: wire.nullableDecimal,
  size_raw: wire.nullable(wire.rawAmountText),
  cost_known_size: wire.nullableDecimal,
  avg_price: wire.nullableDecimal,
  cost_usd: wire.nullableDecimal,
  fees_usd: wire.nullableDecimal,
  price: wire.nullableDecimal,
  value_usd: wire.nullableDecimal,
  realized_pnl: wire.nullableDecimal,
  unrealized_pnl: wire.nullableDecimal,
  total_pnl: wire.nullableDecimal,
  unknown_proceeds_usd: wire.nullableDecimal,
  bought: wire.nullableDecimal,
  sold: wire.nullableDecimal,
  status: Type.Enum(["open", "redeemable", "lost", "closed"]),
  mergeable_size: wire.nullableDecimal,
  payout: wire.nullableDecimal,
  first_seen: wire.timeText,
  first_seen_ms: wire.millisecondsNumber,
  last_active: wire.timeText,
  last_active_ms: wire.millisecondsNumber,
  last_seq: wire.seqNumber,
});
export type PositionRow = Static<typeof positionRow>;

/** A position as clients see it. Amounts that depend on transfers before the coverage are `null`. */
export function toPositionRow(position: ValuedPosition, token: TokenFacts): PositionRow {
  const { known, isComplete } = position;
  const amount = (micros: bigint | null) => (isComplete ? wire.decimalOrNull(micros) : null);
  const { cost, feeCost, realized, unrealized } = position;
  return {
    ...toTokenFields(token),
    ...toMarketFields(token.market),
    neg_risk: token.market?.negRisk ?? null,
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
