/** Conditions of filters. Each has two forms that must agree: SQL for the engine, a predicate for rows in memory. */
import type { Hash, Seq } from "../base/ids.ts";
import { hexLiteral, integerLiteral, listLiteral } from "../storage/sql-literal.ts";

/** One condition, as SQL and as a predicate. */
export type Condition<Row> = { readonly sql: string; readonly holds: (row: Row) => boolean };

/** For each field of a filter, the function that makes its condition. */
export type Conditions<Filter, Row> = {
  readonly [Name in keyof Filter]-?: (value: NonNullable<Filter[Name]>) => Condition<Row>;
};

/** A filter by position, time and transaction. An absent field matches every row. */
export type RangeFilter = {
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

type Located = { readonly seq: Seq; readonly timestamp: number; readonly txHash: Hash };

/** The conditions of `RangeFilter`. */
export const rangeConditions: Conditions<RangeFilter, Located> = {
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

/** Joins the conditions of the fields that a filter has. All of them must hold. */
export function joinConditions<Filter, Row>(
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

/** Makes the condition that a column equals a value. `getValue` reads the column from a row in memory. */
export function is<Row, Value extends string>(
  column: string,
  literal: (value: Value) => string,
  getValue: (row: Row) => Value | null,
): (requested: Value) => Condition<Row> {
  return (requested) => ({
    sql: `${column} = ${literal(requested)}`,
    holds: (row) => getValue(row) === requested,
  });
}

/** Makes the condition that a column has one of some values. An empty list matches no row. */
export function isAmong<Row, Value extends string>(
  column: string,
  literal: (value: Value) => string,
  getValue: (row: Row) => Value,
): (requested: readonly Value[]) => Condition<Row> {
  return (requested) => ({
    sql: isIn(column, requested.map(literal)),
    holds: (row) => requested.includes(getValue(row)),
  });
}

/** Returns SQL for a column to have one of some values. */
export function isIn(column: string, literals: readonly string[]): string {
  const [only, ...others] = literals;
  if (only === undefined) return "0";
  // With `=` instead of `IN` the engine knows that rows are in the order of the other key columns.
  return others.length === 0 ? `${column} = ${only}` : `${column} IN ${listLiteral(literals)}`;
}
