/**
 * The row of a fill: a sequence of fields of fixed length. `fills` has a column for each field. `fills_by_token`
 * takes the same bytes in fewer columns, because the number of columns dominates the cost of a query of few rows. It
 * has a column for each field that pages of a token filter by, and `row` for all other fields.
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

/** Fields that are a column in both tables. */
const ownFields = {
  seq: unsigned(8),
  timestamp: unsigned(4),
  token_id: hash,
  role: getEnum(enumCodes.role),
  maker: address,
  taker: address,
  size: micros,
  value: micros,
} as const satisfies Record<string, FieldType>;

/** Fields that `fills_by_token` packs into `row`. */
const packedFields = {
  side,
  exchange_version: unsigned(1),
  order_hash: hash,
  tx_hash: hash,
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

type FillColumn = { readonly name: string; readonly type: string };

const fields: Readonly<Record<FillField, FieldType>> = { ...ownFields, ...packedFields };
const fieldNames = getNames(fields);

/** The length of a row, in bytes. */
export const fillBytes: number = toBytes(fieldNames);

/** The offset of each field in a row, in bytes. */
export const fillOffsets = Object.fromEntries(
  fieldNames.map((name, index) => [name, toBytes(fieldNames.slice(0, index))]),
) as Readonly<Record<FillField, number>>;

/** The bytes before and in the packed fields. */
const ownBytes = toBytes(getNames(ownFields));
const packedBytes = fillBytes - ownBytes;

/** The stored columns of the two tables of fills, in their order. */
export const fillColumns = {
  fills: fieldNames.map(getColumn),
  fills_by_token: [
    ...getNames(ownFields).map(getColumn),
    { name: "row", type: `FixedString(${packedBytes})` },
  ],
} as const satisfies Record<string, readonly FillColumn[]>;

/** The name of a table that holds every fill. */
export type FillTable = keyof typeof fillColumns;

/**
 * The column declarations in SQL. Each field in `row` has an alias column that extracts it, so the same
 * conditions work on both tables.
 */
export const fillColumnsSql: Readonly<Record<FillTable, string>> = {
  fills: declared("fills").join(", "),
  fills_by_token: [...declared("fills_by_token"), ...getNames(packedFields).map(getAlias)].join(
    ", ",
  ),
};

/** Returns the rows of `fills_by_token` in SQL, from those of `fills`. The statement needs `longRows`. */
export function selectByToken(fillsSql: string): string {
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

function getColumn(name: FillField): FillColumn {
  return { name, type: fields[name].type };
}

function declared(table: FillTable): string[] {
  return fillColumns[table].map(({ name, type }) => `${name} ${type}`);
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
