import { type Static, Type } from "typebox";
import { formatMicros } from "../../base/decimal.ts";
import * as wire from "../wire-format.ts";

/** The supply of a market and what it is worth at the end of a bucket of time. */
export const openInterestRow = Type.Object({
  timestamp: wire.timeText,
  timestamp_ms: wire.millisecondsNumber,
  complete: Type.Boolean(),
  supply: wire.nullable(Type.Array(wire.decimalText)),
  open_interest_usd: wire.nullable(wire.decimalText),
  collateral_usd: wire.nullable(wire.decimalText),
  minted: wire.decimalText,
  burnt: wire.decimalText,
});

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
