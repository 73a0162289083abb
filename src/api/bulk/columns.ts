import { type TObject, Type } from "typebox";
import { decimalPattern } from "../../rows/wire-format.ts";

/** The digits of a decimal column, and how many of them are fractional. */
export const decimalPrecision = 38;
export const decimalScale = 6;

/** A value of a row. A list of strings becomes JSON where a single string is needed. */
export type Value = string | number | boolean | null | readonly string[];

/** A row of a list in its public shape. */
export type Row = Readonly<Record<string, Value>>;

/**
 * A field of a row as a column. `integer` has 64 bits. `decimal` has 38 digits, 6 of them fractional; `null` stands for
 * a longer one. `time` is in milliseconds. `text` is every other string in JSON, and lists as their JSON text.
 */
export type Column = {
  readonly name: string;
  readonly kind: "integer" | "boolean" | "decimal" | "time" | "text";
  readonly nullable: boolean;
};

/** Encodes a file piece by piece: its start, groups of rows, and its end. */
export type FileEncoder = {
  readonly begin: () => Uint8Array;
  readonly add: (rows: readonly Row[]) => Uint8Array;
  readonly end: () => Uint8Array;
};

/** Returns the row schema without the optional fields, which only some requests add. */
export function requiredPart(row: TObject): TObject {
  const fields = Object.entries(row.properties).filter(([name]) => row.required?.includes(name));
  return Type.Object(Object.fromEntries(fields));
}

type Shape = {
  readonly type?: string;
  readonly pattern?: string;
  readonly format?: string;
  readonly anyOf?: readonly Shape[];
};

/** Returns the columns of a row schema, in the order of its fields. */
export function getColumns(row: TObject): readonly Column[] {
  return Object.entries(row.properties).map(([name, shape]) => {
    const kinds = new Set(getKinds(shape));
    const nullable = kinds.delete("null");
    const [only = "text"] = kinds;
    const kind = kinds.size === 1 && only !== "null" ? only : "text";
    return { name, kind, nullable: nullable || kind === "decimal" };
  });
}

/** Returns the values of a column as the Arrow and Parquet encoders take them. */
export function getValues(
  { name, kind }: Column,
  rows: readonly Row[],
): (string | bigint | boolean | null)[] {
  return rows.map((row) => {
    const value = row[name] ?? null;
    if (value === null || typeof value === "boolean") return value;
    switch (kind) {
      case "integer":
        return BigInt(Number(value));
      case "decimal":
        return decimalOrNull(toText(value));
      case "time":
        return BigInt(Date.parse(toText(value)));
      default:
        return toText(value);
    }
  });
}

/** Returns a value as a string. */
export function toText(value: Exclude<Value, null>): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Returns millionths; `null` for a decimal that a column cannot hold. Its raw amounts are in text columns. */
function decimalOrNull(text: string): bigint | null {
  const [, sign = "", whole = "", fraction = ""] = /^(-?)([0-9]+)(?:\.([0-9]+))?$/.exec(text) ?? [];
  const micros = BigInt(`${whole}${fraction.padEnd(decimalScale, "0")}`);
  if (micros >= 10n ** BigInt(decimalPrecision)) return null;
  return sign === "" ? micros : -micros;
}

/** Every number in a row is an integer, because decimals are strings. */
function getKinds({ type, pattern, format, anyOf }: Shape): (Column["kind"] | "null")[] {
  if (anyOf !== undefined) return anyOf.flatMap(getKinds);
  if (type === "null" || type === "boolean") return [type];
  if (type === "integer" || type === "number") return ["integer"];
  if (format === "date-time") return ["time"];
  return [pattern === decimalPattern ? "decimal" : "text"];
}
