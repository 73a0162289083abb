import { type Static, Type } from "typebox";
import type { TokenId } from "../base/ids.ts";
import { parseGen3TokenId } from "../market/ids/gen3-ids.ts";
import type { Resolution } from "../market/market.ts";
import { payoutFields } from "./market-row.ts";
import { idFields, idShape, placeFields, placeShape, type RowContext } from "./trade-row.ts";
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
  winning_outcome: wire.nullable(Type.String()),
  ...placeShape,
});
export type ResolutionRow = Static<typeof resolutionRow>;

/** A resolution as clients see it. While its market is unknown, so is the winning token. */
export function presentResolution(resolution: Resolution, context: RowContext): ResolutionRow {
  const market = context.directory.market(resolution.conditionId);
  return {
    id: resolutionId(resolution),
    seq: resolution.seq,
    derived: resolution.derived,
    condition_id: wire.formatConditionId(resolution.conditionId),
    question_id: resolution.questionId,
    oracle: resolution.oracle,
    ...payoutFields(market ?? { tokens: [] }, resolution),
    ...placeFields(resolution, context),
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
