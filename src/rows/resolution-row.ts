import { type Static, Type } from "typebox";
import { formatMicros } from "../base/decimal.ts";
import { type Address, type ConditionId, type TokenId, toBlockNumber } from "../base/ids.ts";
import { parseGen3TokenId } from "../market/ids/gen3-ids.ts";
import { type Market, type Mirror, payoutsMicros, type Resolution } from "../market/market.ts";
import { payoutFields } from "./market-row.ts";
import { idFields, idShape, locationFields, locationShape, type RowContext } from "./trade-row.ts";
import * as wire from "./wire-format.ts";

/** The resolution of one condition. */
export const resolutionRow = Type.Object({
  ...idShape,
  derived: Type.Boolean(),
  condition_id: wire.conditionIdText,
  question_id: wire.nullable(wire.hashText),
  oracle: wire.addressText,
  payouts: Type.Array(wire.decimalText),
  winning_token_id: wire.nullable(wire.tokenIdText),
  winning_outcome: wire.nullableText,
  mirror_resolution: wire.nullable(
    Type.Object({
      condition_id: wire.conditionIdText,
      payouts: Type.Array(wire.decimalText),
      block_number: Type.Integer(),
      seq: wire.seqNumber,
      tx_hash: wire.hashText,
      ...wire.timeShape,
    }),
  ),
  ...locationShape,
});
export type ResolutionRow = Static<typeof resolutionRow>;

/** What the row of a resolution is made of. */
export type ResolutionFacts = {
  readonly resolution: Resolution;
  readonly market: Market | null;
  /** The result of the market's other condition: of the mirror, or of the legacy condition. */
  readonly other: Resolution | null;
};

/** A resolution as clients see it. While its market is unknown, so is the winning token. */
export function toResolutionRow(
  { resolution, market, other }: ResolutionFacts,
  context: RowContext,
): ResolutionRow {
  const { conditionId } = resolution;
  return {
    id: resolutionId(resolution),
    seq: resolution.seq,
    derived: resolution.derived,
    condition_id: wire.formatConditionId(conditionId),
    question_id: resolution.questionId,
    oracle: resolution.oracle,
    ...payoutFields(getCondition(market, conditionId) ?? { tokens: [] }, resolution),
    mirror_resolution: other && toOtherRow(other),
    ...locationFields(resolution, context),
  };
}

/** Returns the part of a market that is a condition: the legacy one, or the mirror. */
function getCondition(market: Market | null, conditionId: ConditionId): Market | Mirror | null {
  return market?.mirror?.conditionId === conditionId ? market.mirror : market;
}

function toOtherRow(other: Resolution): ResolutionRow["mirror_resolution"] {
  return {
    condition_id: wire.formatConditionId(other.conditionId),
    payouts: payoutsMicros(other).map(formatMicros),
    block_number: toBlockNumber(other.seq),
    seq: other.seq,
    tx_hash: other.txHash,
    ...wire.timeFields(other.timestamp),
  };
}

/**
 * Returns the id of a resolution. One log can have several derived results; the index of the condition distinguishes
 * them.
 */
export function resolutionId(resolution: Resolution): string {
  const { id } = idFields(resolution);
  const position = parseGen3TokenId(resolution.conditionId as string as TokenId);
  return resolution.derived ? `${id}-${position?.conditionIndex ?? 0}` : id;
}

const stepText = Type.Enum([
  "requested",
  "proposed",
  "disputed",
  "reset",
  "settled",
  "reported",
  "mirror_resolved",
]);

/** One step on the way to the result of a market. */
export const resultStepRow = Type.Object({
  ...idShape,
  kind: stepText,
  price: wire.nullableDecimal,
  payouts: wire.nullable(Type.Array(wire.decimalText)),
  account: wire.nullable(wire.addressText),
  bond: wire.nullableDecimal,
  contract: wire.nullable(wire.addressText),
  ...locationShape,
});

/** A step. `price` and `bond` are micros; a reported step has the payouts of its result. */
export type ResultStep = Pick<Resolution, "seq" | "timestamp" | "blockHash" | "txHash"> & {
  readonly step: Static<typeof stepText>;
  readonly price: bigint | null;
  readonly payouts: Resolution | null;
  readonly account: Address | null;
  readonly bond: bigint | null;
  /** The contract of the log; absent in reports. */
  readonly address?: Address;
};

/** A step as clients see it. */
export function toResultStepRow(
  step: ResultStep,
  context: RowContext,
): Static<typeof resultStepRow> {
  return {
    ...idFields(step),
    kind: step.step,
    price: wire.decimalOrNull(step.price),
    payouts: step.payouts === null ? null : payoutsMicros(step.payouts).map(formatMicros),
    account: step.account,
    bond: wire.decimalOrNull(step.bond),
    contract: step.address ?? null,
    ...locationFields(step, context),
  };
}
