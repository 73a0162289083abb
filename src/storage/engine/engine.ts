/**
 * The analytical engine, as the rest of `storage/` sees it: ClickHouse SQL in, rows out. It is embedded in the process
 * (`embedded/`) or a server (`server/`), and the SQL is the same. Names of tables stand for those of one database,
 * which the engine is opened with.
 */
import { assert } from "../../base/assert.ts";
import type { StoreKind } from "../schema/schema-target.ts";
import type { SpoolFile } from "./spool-file.ts";

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
  /** Runs a statement without result: DDL, `ALTER`, `INSERT ... SELECT`. */
  command(sql: string): Promise<void>;
  /** Deletes the rows of a table that a condition names, if there are any. */
  deleteRows(table: string, where: string): Promise<void>;
  /** Room for the rows of one insert that come bit by bit; to be closed. */
  openRows(): Promise<SpoolFile>;
  /**
   * Inserts rows; durable when it resolves. One call is one atomic block. With a token that was given before, it adds
   * nothing: the table must have a deduplication window. An engine that was killed meanwhile may know a token without
   * its rows, as it notes the token first: who gives one again has to count them.
   */
  insert(table: string, rows: Rows, token?: string): Promise<void>;
  /** Waits for what is running, then frees the engine. */
  close(): Promise<void>;
};

/** An engine with its tables made. */
export type OpenedEngine = {
  readonly engine: Engine;
  /** Other processes may write to a database of a server or of a cluster. */
  readonly kind: StoreKind;
};

/** Opens an engine whose files, if it has any, are in a data folder, which is made when it does not exist. */
export type OpenEngine = (dataDir: string) => Promise<OpenedEngine>;

/** What both engines give their JSON rows by. */
export const rowSettings = {
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_decimals: 1,
} as const;

/**
 * For statements that write. Without a token every insert counts: the engine would otherwise swallow one whose rows
 * are those of another. Its queues, also the one for
 * shards, would acknowledge rows that are not durable.
 */
export const writeSettings = {
  async_insert: 0,
  distributed_foreground_insert: 1,
  deduplicate_insert: "disable",
  deduplicate_insert_select: "disable",
} as const;

/** One block whatever its size, and in one thread: anything else would be several inserts. */
export function insertSettings(token?: string) {
  const wholeBlock = {
    ...writeSettings,
    max_threads: 1,
    max_insert_threads: "1",
    min_insert_block_size_rows: "1000000000",
    min_insert_block_size_bytes: "0",
  } as const;
  if (token === undefined) return wholeBlock;
  assert(/^[a-z_A-Z0-9:-]+$/.test(token), "a token is plain words and numbers");
  return {
    ...wholeBlock,
    deduplicate_insert: "enable",
    deduplicate_insert_select: "enable_even_for_bad_queries",
    insert_deduplication_token: token,
  } as const;
}

/** The rows of `JSONCompactEachRow`. */
export function parseRows(text: string): readonly Row[] {
  if (text === "") return [];
  return JSON.parse(`[${text.trimEnd().replaceAll("\n", ",")}]`) as Row[];
}

/** How many rows `<table> WHERE <condition>` names. */
export async function readCount(engine: Engine, fromWhere: string): Promise<number> {
  const [row] = await engine.query(`SELECT count() FROM ${fromWhere}`);
  return Number(row?.[0]);
}
