/** Conditions of filters. Each has two readings that must agree: as SQL over the store, and as a predicate over the tail in memory. */
import type { Hash, Seq } from "../base/ids.ts";
import { hexLiteral, integerLiteral, listLiteral } from "../storage/sql-literal.ts";

/** One condition: how the engine tests it, and how memory does. */
export type Condition<Row> = { readonly sql: string; readonly holds: (row: Row) => boolean };

/** How each field of a filter is a condition. */
export type Conditions<Filter, Row> = {
  readonly [Name in keyof Filter]-?: (value: NonNullable<Filter[Name]>) => Condition<Row>;
};

/** Where rows are in the chain. Absent means anywhere. */
export type PlaceFilter = {
  /** Inclusive. */
  readonly seqFrom?: Seq | undefined;
  /** Exclusive. */
  readonly seqTo?: Seq | undefined;
  /** Unix seconds, inclusive. */
  readonly timestampFrom?: number | undefined;
  /** Unix seconds, exclusive. */
  readonly timestampTo?: number | undefined;
  readonly txHash?: Hash | undefined;
};

type Placed = { readonly seq: Seq; readonly timestamp: number; readonly txHash: Hash };

/** The conditions of places. */
export const placeConditions: Conditions<PlaceFilter, Placed> = {
  seqFrom: (from) => ({
    sql: `seq >= ${integerLiteral(from)}`,
    holds: ({ seq }) => seq >= from,
  }),
  seqTo: (to) => ({ sql: `seq < ${integerLiteral(to)}`, holds: ({ seq }) => seq < to }),
  timestampFrom: (from) => ({
    sql: `timestamp >= ${integerLiteral(from)}`,
    holds: ({ timestamp }) => timestamp >= from,
  }),
  timestampTo: (to) => ({
    sql: `timestamp < ${integerLiteral(to)}`,
    holds: ({ timestamp }) => timestamp < to,
  }),
  txHash: is("tx_hash", hexLiteral, ({ txHash }) => txHash),
};

/** The conditions of the fields that are given, all of which must hold. */
export function allOf<Filter, Row>(
  conditions: Conditions<Filter, Row>,
  filter: Partial<Filter>,
): Condition<Row> {
  const given = (Object.keys(conditions) as (keyof Filter)[]).flatMap((name) => {
    const value = filter[name];
    return value === undefined || value === null ? [] : [conditions[name](value)];
  });
  return {
    sql: given.length === 0 ? "1" : given.map(({ sql }) => sql).join(" AND "),
    holds: (row) => given.every(({ holds }) => holds(row)),
  };
}

/** That a column has a value, which rows in memory have as `valueOf`. */
export function is<Row, Value extends string>(
  column: string,
  literal: (value: Value) => string,
  valueOf: (row: Row) => Value | null,
): (wanted: Value) => Condition<Row> {
  return (wanted) => ({
    sql: `${column} = ${literal(wanted)}`,
    holds: (row) => valueOf(row) === wanted,
  });
}

/** That it has one of some values; of none, nothing has it. */
export function isOneOf<Row, Value extends string>(
  column: string,
  literal: (value: Value) => string,
  valueOf: (row: Row) => Value,
): (wanted: readonly Value[]) => Condition<Row> {
  return (wanted) => ({
    sql: isIn(column, wanted.map(literal)),
    holds: (row) => wanted.includes(valueOf(row)),
  });
}

function isIn(column: string, literals: readonly string[]): string {
  const [only, ...others] = literals;
  if (only === undefined) return "0";
  // Only of what equals one value does the engine know that it lies in the order of the rest.
  return others.length === 0 ? `${column} = ${only}` : `${column} IN ${listLiteral(literals)}`;
}
