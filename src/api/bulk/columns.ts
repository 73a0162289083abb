import { type TObject, Type } from "typebox";

/** A value of a row; a list of texts is JSON wherever it has to be one text. */
export type Value = string | number | boolean | null | readonly string[];

/** A row of a list as clients see it. */
export type Row = Readonly<Record<string, Value>>;

/** A field of a row as a column: `integer` is 64 bits, `text` everything that JSON has as a string. */
export type Column = {
  readonly name: string;
  readonly kind: "integer" | "boolean" | "text";
  readonly nullable: boolean;
};

/** Makes a file of groups of rows, piece by piece. */
export type FileEncoder = {
  readonly begin: () => Uint8Array;
  readonly add: (rows: readonly Row[]) => Uint8Array;
  readonly end: () => Uint8Array;
};

/** Rows without the fields that only some requests add. */
export function requiredPart(row: TObject): TObject {
  const fields = Object.entries(row.properties).filter(([name]) => row.required?.includes(name));
  return Type.Object(Object.fromEntries(fields));
}

type Shape = { readonly type?: string; readonly anyOf?: readonly Shape[] };

/** The columns of rows of a schema, in the order of their fields. */
export function columnsOf(row: TObject): readonly Column[] {
  return Object.entries(row.properties).map(([name, shape]) => {
    const types = new Set(typesOf(shape));
    const nullable = types.delete("null");
    const [only] = types;
    return { name, kind: types.size === 1 ? kindOf(only) : "text", nullable };
  });
}

/** The values of a column, as encoders of typed columns take them. */
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

/** A value as a text. */
export function textOf(value: Exclude<Value, null>): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Numbers of rows are whole: decimals are texts. */
function kindOf(type: string | undefined): Column["kind"] {
  if (type === "integer" || type === "number") return "integer";
  return type === "boolean" ? "boolean" : "text";
}

function typesOf({ type, anyOf }: Shape): string[] {
  return anyOf === undefined ? [type ?? "string"] : anyOf.flatMap(typesOf);
}
