/**
 * The row of a fill: a sequence of fields of fixed length, which are few columns of `fills` and `fills_by_token`, because
 * the number of columns dominates the cost of a query of few rows. There is a column for each field that pages are
 * filtered by or that totals are made of, and `row` for all other fields.
 */
import type { ExchangeName } from "../../contracts/contracts.ts";
import type { Side } from "../../contracts/events.ts";
import type { FillRole, MatchType } from "../../market/fill.ts";

/** The words of enumerated fields and their codes in rows. */
export const enumCodes = {
  exchange: { standard: 1, neg_risk: 2 } satisfies Record<ExchangeName, number>,
  role: { maker: 1, taker: 2, direct: 3 } satisfies Record<FillRole, number>,
  side: { BUY: 1, SELL: 2 } satisfies Record<Side, number>,
  matchType: { none: 0, complementary: 1, mint: 2, merge: 3, direct: 4 } satisfies Record<
    MatchType | "none",
    number
  >,
} as const;

/** A type of the engine, the bytes of a value, and the SQL that reads a value from bytes and writes it. */
type FieldType = {
  readonly type: string;
  readonly bytes: number;
  readonly read: (bytesSql: string) => string;
  readonly write: (sql: string) => string;
};

const toBytesSql = (sql: string): string => `reinterpretAsFixedString(${sql})`;

const hash: FieldType = fixedString(32);
const address: FieldType = fixedString(20);
const micros: FieldType = {
  type: "Decimal(38, 6)",
  bytes: 16,
  read: (bytes) => `reinterpret(reinterpretAsInt128(${bytes}), 'Decimal(38, 6)')`,
  write: toBytesSql,
};
const side = getEnum(enumCodes.side);

const ownFields = {
  seq: unsigned(8),
  timestamp: unsigned(4),
  token_id: hash,
  role: getEnum(enumCodes.role),
  maker: address,
  taker: address,
  size: micros,
  value: micros,
  side,
  exchange_version: unsigned(1),
  order_hash: hash,
  tx_hash: hash,
} as const satisfies Record<string, FieldType>;

const packedFields = {
  block_hash: hash,
  exchange_address: address,
  exchange: getEnum(enumCodes.exchange),
  maker_side: side,
  maker_token_id: hash,
  maker_amount: unsigned(16),
  taker_amount: unsigned(16),
  fee: micros,
  fee_refund: micros,
  builder: hash,
  metadata: hash,
  match_type: getEnum(enumCodes.matchType),
  taker_order_hash: hash,
  match_seq: unsigned(8),
  legs: unsigned(2),
} as const satisfies Record<string, FieldType>;

export type FillField = keyof typeof ownFields | keyof typeof packedFields;

const fields: Readonly<Record<FillField, FieldType>> = { ...ownFields, ...packedFields };

/** The fields in their order. */
export const fillFields: readonly FillField[] = getNames(fields);

/** The length of a row, in bytes. */
export const fillBytes: number = toBytes(fillFields);

/** The offset of each field in a row, in bytes. */
export const fillOffsets = Object.fromEntries(
  fillFields.map((name, index) => [name, toBytes(fillFields.slice(0, index))]),
) as Readonly<Record<FillField, number>>;

/** The bytes before and in the packed fields. */
const ownBytes = toBytes(getNames(ownFields));
const packedBytes = fillBytes - ownBytes;

/** The stored columns, in their order. */
export const fillColumns: readonly string[] = [...getNames(ownFields), "row"];

/** A table that holds every fill. */
export type FillTable = "fills" | "fills_by_token";

/** The column declarations in SQL. Each field in `row` has an alias column that extracts it, for conditions. */
export const fillColumnsSql: string = [
  ...getNames(ownFields).map((name) => `${name} ${fields[name].type}`),
  `row FixedString(${packedBytes})`,
  ...getNames(packedFields).map(getAlias),
].join(", ");

/** Returns stored rows in SQL, from rows with a column for each field. The statement needs `longRows`. */
export function selectPacked(fillsSql: string): string {
  const values = getNames(packedFields).map((name) => packedFields[name].write(name));
  const packed = `CAST(concat(${values.join()}), 'FixedString(${packedBytes})')`;
  return `SELECT ${getNames(ownFields).join()}, ${packed} AS row FROM (${fillsSql})`;
}

function getNames<Name extends FillField>(of: Readonly<Record<Name, FieldType>>): readonly Name[] {
  return Object.keys(of) as Name[];
}

function toBytes(names: readonly FillField[]): number {
  return names.reduce((sum, name) => sum + fields[name].bytes, 0);
}

function getAlias(name: keyof typeof packedFields): string {
  const { type, bytes, read } = fields[name];
  const begin = 1 + fillOffsets[name] - ownBytes;
  return `${name} ${type} ALIAS ${read(`substring(row, ${begin}, ${bytes})`)}`;
}

function fixedString(bytes: number): FieldType {
  return { type: `FixedString(${bytes})`, bytes, read: (sql) => sql, write: (sql) => sql };
}

function unsigned(bytes: number): FieldType {
  const type = `UInt${8 * bytes}`;
  return { type, bytes, read: (sql) => `reinterpretAs${type}(${sql})`, write: toBytesSql };
}

function getEnum(codes: Readonly<Record<string, number>>): FieldType {
  const words = Object.entries(codes).map(([word, code]) => `'${word}' = ${code}`);
  const type = `Enum8(${words.join(", ")})`;
  return {
    type,
    bytes: 1,
    read: (sql) => `reinterpretAsInt8(${sql})::${type}`,
    write: (sql) => toBytesSql(`${sql}::Int8`),
  };
}
