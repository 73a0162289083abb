/**
 * The analytical engine, as the rest of `store/` sees it: ClickHouse SQL in, rows out. There
 * is one, embedded in the process; a server would speak the same SQL. Names of tables stand for those of one database,
 * which the engine is opened with.
 */
import type { SpoolFile } from "./embedded/spool-file.ts";

/** A value of a row as the engine's JSON gives it: 64-bit integers are numbers, decimals strings. */
export type Cell = string | number | null | readonly Cell[];
export type Row = readonly Cell[];

/** Whole rows of `row-writer.ts`, one after the other. */
export type Rows = Buffer | SpoolFile;

export type Engine = {
  /** Runs a `SELECT`; the SQL holds only literals that `sql-literal.ts` made. */
  query(sql: string): Promise<readonly Row[]>;
  /** As `query`, with the columns as the engine has them (`Native`), for a great many rows. */
  queryNative(sql: string): Promise<Buffer>;
  /** Runs a statement without result: DDL, `DELETE`, `INSERT ... SELECT`. */
  command(sql: string): Promise<void>;
  /** Room for the rows of one insert that come bit by bit; to be closed. */
  openRows(): Promise<SpoolFile>;
  /** Inserts rows; durable when it resolves. One call is one atomic block. */
  insert(table: string, rows: Rows): Promise<void>;
  /** Waits for what is running, then frees the engine. */
  close(): Promise<void>;
};
