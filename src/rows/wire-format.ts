/**
 * How internal values look to clients: the schemas that several rows share, and the functions that
 * format values. A row is the same in REST responses, on the stream and in exports.
 */
import { type TSchema, type TSchemaOptions, Type } from "typebox";
import { formatMicros } from "../base/decimal.ts";
import type { ConditionId, TokenId } from "../base/ids.ts";
import { parseGen3TokenId } from "../market/ids/gen3-ids.ts";

/** Returns the schema of a value that is `null` when it is unknown or does not apply. */
export function nullable<Shape extends TSchema>(shape: Shape, options: TSchemaOptions = {}) {
  return Type.Union([shape, Type.Null()], options);
}

export const tokenIdText = Type.String({
  pattern: "^[0-9]{1,78}$",
  description: "ERC-1155 outcome token id, a decimal below 2^256",
});
export const hashText = Type.String({
  pattern: "^0x[0-9a-f]{64}$",
  description: "32 bytes as lower-case hex",
});
export const addressText = Type.String({
  pattern: "^0x[0-9a-f]{40}$",
  description: "An account or contract, lower-case hex",
});
export const conditionIdText = Type.String({
  pattern: "^0x([0-9a-f]{62}|[0-9a-f]{64})$",
  description: "Condition id; 62 digits for Protocol V2, 64 before",
});
/** The pattern of an exact decimal, by which files recognize columns of decimals. */
export const decimalPattern = "^-?[0-9]+(\\.[0-9]{1,6})?$";
export const decimalText = Type.String({
  pattern: decimalPattern,
  description: "An exact decimal with at most 6 fractional digits",
});
export const rawAmountText = Type.String({
  pattern: "^[0-9]+$",
  description: "The raw amount of the event, an integer of 10^-6 units",
});
export const timeText = Type.String({ format: "date-time", description: "RFC 3339, UTC" });
export const millisecondsNumber = Type.Integer({ description: "Unix milliseconds" });
/** A time in both forms in which rows have times. */
export const timeShape = { timestamp: timeText, timestamp_ms: millisecondsNumber };
export const seqNumber = Type.Integer({
  description: "Position on the chain: block_number * 1000000 + log_index",
});

export const nullableText = nullable(Type.String());
export const nullableDecimal = nullable(decimalText);
export const nullableTime = nullable(timeText);
export const nullableMilliseconds = nullable(millisecondsNumber);

export const sideText = Type.Enum(["BUY", "SELL"]);
export const statusText = Type.Enum(["confirmed", "finalized"]);
export const exchangeText = Type.Enum(["standard", "neg_risk"]);
export const exchangeVersionNumber = Type.Enum([1, 2, 3], { type: "integer" });
export const moduleText = Type.Enum(["binary", "neg_risk", "combinatorial"]);

/** Formats unix seconds in both forms. */
export function timeFields(seconds: number): { timestamp: string; timestamp_ms: number } {
  return { timestamp: formatTime(seconds), timestamp_ms: seconds * 1000 };
}

/** Formats unix milliseconds, such as times of the venue, in both forms. */
export function millisecondFields(ms: number): { timestamp: string; timestamp_ms: number } {
  return { timestamp: new Date(ms).toISOString(), timestamp_ms: ms };
}

/** Formats unix seconds as RFC 3339. Whole seconds, such as block times, have no fraction. */
export function formatTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
}

/** Micros as a decimal, or `null`. */
export function decimalOrNull(micros: bigint | null): string | null {
  return micros === null ? null : formatMicros(micros);
}

/** A condition id as clients see it: generation 3 ids are 31 bytes and lose their padding. */
export function formatConditionId(conditionId: ConditionId): string {
  return parseGen3TokenId(conditionId as string as TokenId) === null
    ? conditionId
    : conditionId.slice(0, -2);
}
