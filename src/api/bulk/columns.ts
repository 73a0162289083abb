import { type TObject, Type } from "typebox";

/** A value of a row. A list of strings becomes JSON where a single string is needed. */
export type Value = string | number | boolean | null | readonly string[];

/** A row of a list in its public shape. */
export type Row = Readonly<Record<string, Value>>;

/** A field of a row as a column. `integer` has 64 bits; `text` is everything that is a string in JSON. */
export type Column = {
  readonly name: string;
  readonly kind: "integer" | "boolean" | "text";
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

type Shape = { readonly type?: string; readonly anyOf?: readonly Shape[] };

/** Returns the columns of a row schema, in the order of its fields. */
export function columnsOf(row: TObject): readonly Column[] {
  return Object.entries(row.properties).map(([name, shape]) => {
    const types = new Set(typesOf(shape));
    const nullable = types.delete("null");
    const [only] = types;
    return { name, kind: types.size === 1 ? kindOf(only) : "text", nullable };
  });
}

/** Returns the values of a column as the Arrow and Parquet encoders take them. */
export function valuesOf(
  { name, kind }: Column,
  rows: readonly Row[],
): (string | bigint | boolean | null)[] {
  return rows.map((row) => {
    const value = row[name] ?? null;
    if (value === null || typeof value === "boolean") return value;
    return kind === "integer" ? BigInt(Number(value)) : textOf(value);
  });
}

/** Returns a value as a string. */
export function textOf(value: Exclude<Value, null>): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Every number in a row is an integer, because decimals are strings. */
function kindOf(type: string | undefined): Column["kind"] {
  if (type === "integer" || type === "number") return "integer";
  return type === "boolean" ? "boolean" : "text";
}

function typesOf({ type, anyOf }: Shape): string[] {
  return anyOf === undefined ? [type ?? "string"] : anyOf.flatMap(typesOf);
}
