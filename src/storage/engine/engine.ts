/**
 * The analytical engine, as the rest of `storage/` sees it: ClickHouse SQL in, rows out. It is embedded in the process
 * (`embedded/`) or a server (`server/`); both take the same SQL. Table names without a database refer to the database
 * that the engine is opened with.
 */
import { assert } from "../../base/assert.ts";
import type { StoreKind } from "../schema/schema-target.ts";
import type { EngineMeter } from "./engine-meter.ts";
import type { SpoolFile } from "./spool-file.ts";

/** A value of a row as parsed from the engine's JSON: 64-bit integers are numbers, decimals are strings. */
export type Cell = string | number | null | readonly Cell[];
export type Row = readonly Cell[];

/** The rows of a `SELECT` of the embedded engine, which reads files: the columns of a table in their order. */
export type SelectedRows = { readonly select: string; readonly engine: Engine };

/** Complete rows of `row-writer.ts`, one after the other, or a query that returns rows. */
export type Rows = Uint8Array | SpoolFile | SelectedRows;

/** Rows as they are inserted, without a header or after one with the names of the columns; or a file for other tools. */
export type BinaryFormat = "RowBinary" | "RowBinaryWithNames" | "Parquet" | "ArrowStream";

export type Engine = {
  /** Where the tables are. Other processes can write to a database on a server or a cluster. */
  readonly kind: StoreKind;
  /** Whether there are tables of wallets (`ODDWIRE_WALLETS`). */
  readonly hasWallets: boolean;
  readonly meter: EngineMeter;
  /** Runs a `SELECT`. All literals in the SQL come from `sql-literal.ts`. */
  query(sql: string): Promise<readonly Row[]>;
  /** Runs a `SELECT` and returns its rows in a binary format. */
  queryBinary(sql: string, format: BinaryFormat): Promise<Buffer>;
  /** Runs a statement without a result: DDL, `ALTER`, `INSERT ... SELECT`. */
  command(sql: string): Promise<void>;
  /** Opens a file for the rows of one insert that arrive over time. The caller closes it. */
  openRows(): Promise<SpoolFile>;
  /**
   * Inserts rows as one atomic block; durable when it resolves. A call with a token that was used before adds
   * nothing, if the table has a deduplication window. An engine stores the token before the rows, so after a crash it
   * can know a token without its rows. A caller that repeats a token must therefore count the rows.
   */
  insert(table: string, rows: Rows, token?: string): Promise<void>;
  /** Waits for running statements, then releases the engine. */
  close(): Promise<void>;
};

/** Opens an engine whose tables exist, with its files, if any, in a data directory. Creates the directory if missing. */
export type OpenEngine = (dataDir: string) => Promise<Engine>;

/** Settings for the queries of both engines. The SQL of a lake contains what is known about thousands of tokens. */
export const rowSettings = {
  max_query_size: 256 * 1024 ** 2,
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_decimals: 1,
} as const;

/**
 * Settings for statements that write. Deduplication is off without a token: the engine would drop an insert whose rows
 * equal those of an earlier one. Asynchronous inserts and background sends to shards are off: they would acknowledge
 * rows that are not durable.
 */
export const writeSettings = {
  async_insert: 0,
  distributed_foreground_insert: 1,
  deduplicate_insert: "disable",
  deduplicate_insert_select: "disable",
} as const;

/** Returns settings that insert all rows as one block, in one thread: otherwise the engine makes several inserts. */
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

/** Returns settings as SQL: `a = 1, b = 'c'`. */
export function listSettings(settings: Readonly<Record<string, string | number>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${typeof value === "number" ? value : `'${value}'`}`)
    .join(", ");
}

/** Parses rows in the format `JSONCompactEachRow`. */
export function parseRows(text: string): readonly Row[] {
  if (text === "") return [];
  return JSON.parse(`[${text.trimEnd().replaceAll("\n", ",")}]`) as Row[];
}

/** Returns a `hex(...)` cell as lower-case `0x` hex. */
export function prefixed(cell: Cell | undefined): string {
  return `0x${String(cell).toLowerCase()}`;
}

/** Counts the rows of `<table> WHERE <condition>`. */
export async function readCount(engine: Engine, fromWhere: string): Promise<number> {
  const [row] = await engine.query(`SELECT count() FROM ${fromWhere}`);
  return Number(row?.[0]);
}
