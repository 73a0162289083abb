/**
 * How a fill lies in its row: a column for each field that fills are found or summed up by, and all others
 * side by side in one column, `rest`. What a query costs that reads few rows is mostly its columns:
 * each is planned, opened and unpacked by itself (decision 0003).
 */
import type { ExchangeName } from "../decode/contracts.ts";
import type { Side } from "../decode/events.ts";
import type { FillRole, MatchType } from "../market/fill.ts";

/** The words of the enumerated fields, and the numbers that stand for them in rows. */
export const enumCodes = {
  exchange: { standard: 1, neg_risk: 2 } satisfies Record<ExchangeName, number>,
  role: { maker: 1, taker: 2, direct: 3 } satisfies Record<FillRole, number>,
  side: { BUY: 1, SELL: 2 } satisfies Record<Side, number>,
  matchType: { none: 0, complementary: 1, mint: 2, merge: 3, direct: 4 } satisfies Record<
    MatchType | "none",
    number
  >,
} as const;

/** A type of the engine, how many bytes a value has, and how it is read where such bytes stand. */
type FieldType = {
  readonly type: string;
  readonly bytes: number;
  readonly read: (bytesSql: string) => string;
};

const hash: FieldType = fixedString(32);
const address: FieldType = fixedString(20);
const micros: FieldType = {
  type: "Decimal(38, 6)",
  bytes: 16,
  read: (bytes) => `reinterpret(reinterpretAsInt128(${bytes}), 'Decimal(38, 6)')`,
};
const side = enumOf(enumCodes.side);

const columns = {
  seq: unsigned(8),
  timestamp: unsigned(4),
  token_id: hash,
  role: enumOf(enumCodes.role),
  side,
  exchange_version: unsigned(1),
  size: micros,
  value: micros,
  maker: address,
  taker: address,
  order_hash: hash,
  tx_hash: hash,
} as const satisfies Record<string, FieldType>;

const restFields = {
  block_hash: hash,
  exchange_address: address,
  exchange: enumOf(enumCodes.exchange),
  maker_side: side,
  maker_token_id: hash,
  maker_amount: unsigned(16),
  taker_amount: unsigned(16),
  fee: micros,
  fee_refund: micros,
  builder: hash,
  metadata: hash,
  match_type: enumOf(enumCodes.matchType),
  taker_order_hash: hash,
  match_seq: unsigned(8),
  legs: unsigned(2),
} as const satisfies Record<string, FieldType>;

/** A field with a column of its own. */
export type FillColumn = keyof typeof columns;

/** A field within `rest`. */
export type RestField = keyof typeof restFields;

/** What `INSERT ... SELECT` takes from a table in which every field has a column. */
export const unpackedSql: string = [
  ...Object.keys(columns),
  `concat(${Object.entries<FieldType>(restFields)
    .map(([name, { bytes }]) => `reinterpret(${name}, 'FixedString(${bytes})')`)
    .join(", ")})`,
].join(", ");

const columnPlaces = placesOf(columns);
const withinRest = placesOf(restFields);

/** How long `rest` is, as it stands in front of it: seven bits a byte. */
export const restLength: readonly number[] = [(withinRest.end & 127) | 128, withinRest.end >> 7];

/** Bytes of a value of `rest`, its length included. */
export const restBytes: number = restLength.length + withinRest.end;

/** Bytes of a row, which are always the same. */
export const fillBytes: number = columnPlaces.end + restBytes;

/** The columns in the order of the table, and how many bytes a value of theirs has in a row. */
export const storedColumns: readonly {
  readonly name: string;
  readonly type: string;
  readonly bytes: number;
}[] = [
  ...Object.entries<FieldType>(columns).map(([name, { type, bytes }]) => ({ name, type, bytes })),
  { name: "rest", type: "String", bytes: restBytes },
];

/** The columns as they are declared. */
export const fillColumnsSql: string = storedColumns
  .map(({ name, type }) => `${name} ${type}`)
  .join(", ");

/** Where the fields begin in a value of `rest`. */
export const placesInRest: Readonly<Record<RestField, number>> = shifted(
  withinRest.places,
  restLength.length,
);

/** Where the fields begin in a row. */
export const placesInFill: Readonly<Record<FillColumn | RestField, number>> = {
  ...columnPlaces.places,
  ...shifted(placesInRest, columnPlaces.end),
};

/** A field as SQL, of the same type wherever it stands. */
export function fillSql(field: FillColumn | RestField): string {
  if (isColumn(field)) return field;
  const { bytes, read } = restFields[field];
  return read(`substring(rest, ${1 + withinRest.places[field]}, ${bytes})`);
}

function isColumn(field: FillColumn | RestField): field is FillColumn {
  return Object.hasOwn(columns, field);
}

/** Each behind those before it. */
function placesOf<Name extends string>(
  fields: Readonly<Record<Name, FieldType>>,
): { readonly places: Readonly<Record<Name, number>>; readonly end: number } {
  let end = 0;
  const places = Object.entries<FieldType>(fields).map(([name, { bytes }]) => {
    end += bytes;
    return [name, end - bytes];
  });
  return { places: Object.fromEntries(places) as Record<Name, number>, end };
}

function shifted<Name extends string>(
  places: Readonly<Record<Name, number>>,
  by: number,
): Readonly<Record<Name, number>> {
  const moved = Object.entries<number>(places).map(([name, place]) => [name, place + by]);
  return Object.fromEntries(moved) as Record<Name, number>;
}

function fixedString(bytes: number): FieldType {
  return { type: `FixedString(${bytes})`, bytes, read: (sql) => sql };
}

function unsigned(bytes: number): FieldType {
  const type = `UInt${8 * bytes}`;
  return { type, bytes, read: (sql) => `reinterpretAs${type}(${sql})` };
}

function enumOf(codes: Readonly<Record<string, number>>): FieldType {
  const words = Object.entries(codes).map(([word, code]) => `'${word}' = ${code}`);
  const type = `Enum8(${words.join(", ")})`;
  return { type, bytes: 1, read: (sql) => `reinterpretAsInt8(${sql})::${type}` };
}
