import { type Static, Type } from "typebox";
import { formatMicros } from "../../base/decimal.ts";
import type { ConditionId } from "../../base/ids.ts";
import type { CollateralPool } from "../../market/ledger/collateral.ts";
import * as wire from "../wire-format.ts";

/** The supply of a market and what it is worth at the end of a bucket of time. */
export const openInterestRow = Type.Object({
  ...wire.timeShape,
  complete: Type.Boolean(),
  supply: wire.nullable(Type.Array(wire.decimalText)),
  open_interest_usd: wire.nullableDecimal,
  collateral_usd: wire.nullableDecimal,
  minted: wire.decimalText,
  burnt: wire.decimalText,
});

/** The supply of a market and what it is worth now. */
export const marketInterestRow = Type.Object({
  condition_id: wire.conditionIdText,
  complete: Type.Boolean(),
  supply: wire.nullable(Type.Array(wire.decimalText)),
  open_interest_usd: wire.nullableDecimal,
  collateral_usd: wire.nullableDecimal,
});

/** A market as clients of the stream see it. */
export function toMarketInterestRow({
  conditionId,
  supply,
  openInterest,
  collateral,
}: Pick<InterestPoint, "supply" | "openInterest" | "collateral"> & {
  readonly conditionId: ConditionId;
}): Static<typeof marketInterestRow> {
  return {
    condition_id: wire.formatConditionId(conditionId),
    complete: supply !== null,
    supply: supply?.map(formatMicros) ?? null,
    open_interest_usd: wire.decimalOrNull(openInterest),
    collateral_usd: wire.decimalOrNull(collateral),
  };
}

/** The collateral behind all positions at the end of a bucket of time. */
export const totalInterestRow = Type.Object({
  ...wire.timeShape,
  complete: Type.Boolean(),
  open_interest_usd: wire.nullableDecimal,
  standard_usd: wire.nullableDecimal,
  neg_risk_usd: wire.nullableDecimal,
  protocol_v2_usd: wire.nullableDecimal,
  minted_usd: wire.decimalText,
  burnt_usd: wire.decimalText,
});

/** The collateral of each pool at the end of a bucket, which begins at `bucket`, and what came and left in it. Micros. */
export type TotalInterestPoint = {
  readonly bucket: number;
  /** `null` without every log of the token contract. */
  readonly collateral: Readonly<Record<CollateralPool, bigint | null>>;
  readonly minted: bigint;
  readonly burnt: bigint;
};

/** A bucket of all markets as clients see it. */
export function toTotalInterestRow(point: TotalInterestPoint): Static<typeof totalInterestRow> {
  const { bucket, collateral, minted, burnt } = point;
  const { standard, neg_risk, protocol_v2 } = collateral;
  const isComplete = standard !== null && neg_risk !== null && protocol_v2 !== null;
  return {
    ...wire.timeFields(bucket),
    complete: isComplete,
    open_interest_usd: isComplete ? formatMicros(standard + neg_risk + protocol_v2) : null,
    standard_usd: wire.decimalOrNull(standard),
    neg_risk_usd: wire.decimalOrNull(neg_risk),
    protocol_v2_usd: wire.decimalOrNull(protocol_v2),
    minted_usd: formatMicros(minted),
    burnt_usd: formatMicros(burnt),
  };
}

/** A bucket, which begins at `bucket`, Unix seconds. Amounts are micros; supplies are by outcome. */
export type InterestPoint = {
  readonly bucket: number;
  /** `null` without every transfer of the tokens. */
  readonly supply: readonly bigint[] | null;
  readonly openInterest: bigint | null;
  readonly collateral: bigint | null;
  /** Shares of all outcomes in the bucket. */
  readonly minted: bigint;
  readonly burnt: bigint;
};

/** A bucket as clients see it. */
export function toOpenInterestRow(point: InterestPoint): Static<typeof openInterestRow> {
  const { bucket, supply, openInterest, collateral, minted, burnt } = point;
  return {
    ...wire.timeFields(bucket),
    complete: supply !== null,
    supply: supply?.map(formatMicros) ?? null,
    open_interest_usd: wire.decimalOrNull(openInterest),
    collateral_usd: wire.decimalOrNull(collateral),
    minted: formatMicros(minted),
    burnt: formatMicros(burnt),
  };
}
