/** The tables of facts and candles, and the SQL that selects their rows by block. */
import { toFirstSeq } from "../../base/ids.ts";
import type { BlockRange } from "../../chain/raw-log.ts";
import { countNames } from "../codec/commit-counts.ts";
import type { BatchRows } from "../codec/encode-facts.ts";
import type { Engine } from "../engine/engine.ts";
import { integerLiteral } from "../sql-literal.ts";

/** The rows of a batch that each table takes. */
export const rowsOfTable = {
  fills: "fills",
  fills_by_token: "fills",
  events: "events",
  quarantine: "quarantine",
  minute_candles: "minuteCandles",
  hour_candles: "minuteCandles",
  ledger: "ledger",
  balance_changes: "balances",
} as const satisfies Record<string, keyof BatchRows>;

/** The name of a table that appends insert into. */
export type FactTable = keyof typeof rowsOfTable;

/** All tables of facts. Their rows have a `seq`. */
const factTables = [
  "fills",
  "fills_by_token",
  "events",
  "quarantine",
  "ledger",
  "balance_changes",
] as const;

type StoredTable = (typeof factTables)[number];

/** The tables that are there only with `ODDWIRE_WALLETS`. */
export const walletTables: ReadonlySet<string> = new Set(["ledger", "balance_changes"]);

/** Returns the tables of facts of a store. */
export function getFactTables({ hasWallets }: Pick<Engine, "hasWallets">): readonly StoredTable[] {
  return hasWallets ? factTables : factTables.filter((table) => !walletTables.has(table));
}

/** The tables of candles, which are derived from fills. */
export const candleTables = ["minute_candles", "hour_candles"] as const;

/** The condition that a row of `fills` is a trade that candles count: one with a price. */
export const isInCandles = "role != 'taker' AND size != 0";

/** What a commit record counts of each table. */
export const getCountName = {
  fills: "fills",
  fills_by_token: "fills",
  events: "events",
  quarantine: "quarantined",
  ledger: "ledger",
  balance_changes: "balances",
} as const satisfies Record<StoredTable, (typeof countNames)[number]>;

/** The index of each table's row count in `counts` of a commit record. */
export const countIndexes = Object.fromEntries(
  factTables.map((table) => [table, countNames.indexOf(getCountName[table])]),
) as Readonly<Record<StoredTable, number>>;

/**
 * Reads aggregates of a range of blocks from each table of facts. One query for all takes two thirds of the time of one
 * for each table.
 */
export async function readFromEach(
  engine: Engine,
  aggregates: readonly string[],
  range: BlockRange,
): Promise<Readonly<Record<StoredTable, readonly number[]>>> {
  const selects = getFactTables(engine).map(
    (table) =>
      `SELECT '${table}', ${aggregates.join(", ")} FROM ${table} WHERE ${blockRangeSql(range)}`,
  );
  const rows = await engine.query(selects.join(" UNION ALL "));
  return Object.fromEntries(
    rows.map(([table, ...values]) => [table, values.map(Number)]),
  ) as Record<StoredTable, number[]>;
}

/** The block number of a row. */
export const blockSql = `intDiv(seq, ${integerLiteral(toFirstSeq(1))})`;

/** Returns the condition that a row is in a range of blocks. */
export function blockRangeSql({ from, to }: BlockRange): string {
  return `seq >= ${integerLiteral(toFirstSeq(from))} AND seq < ${integerLiteral(toFirstSeq(to + 1))}`;
}
