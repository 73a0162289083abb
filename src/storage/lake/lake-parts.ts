/** Reads and writes the parts of a lake: for some blocks, one Parquet file of each table. */
import { type Hash, type Seq, toFirstSeq } from "../../base/ids.ts";
import type { BlockRange, TimedBlock } from "../../chain/raw-log.ts";
import { fillColumnsSql, selectPacked } from "../codec/fill-layout.ts";
import { type Engine, listSettings, prefixed, type SelectedRows } from "../engine/engine.ts";
import { blockRangeSql, blockSql, candleTables, type FactTable } from "../schema/fact-tables.ts";
import { longRows } from "../schema/schema.ts";
import { integerLiteral, textLiteral } from "../sql-literal.ts";
import { encodeTrades, type TradeFile } from "../trade-columns.ts";
import {
  candleColumns,
  declaredColumns,
  keyColumns,
  type LakeFactTable,
  lakeTradeColumns,
  selectMinutes,
  storedColumns,
  writtenColumns,
} from "./lake-tables.ts";

/** From `since` until before `until`, in Unix seconds. */
export type TimeSpan = { readonly since: number; readonly until: number };

/** Consecutive blocks of a part: the first one with facts, the last one, and how many rows of facts they have. */
export type LakePart = {
  readonly firstBlock: number;
  readonly last: TimedBlock;
  readonly rows: number;
};

/** Where the tables are, and whether a service answers requests meanwhile. */
export type Part = { readonly engine: Engine; readonly isPatient: boolean };

/** The largest dictionary of a column: hashes and accounts take less time and bytes without. */
const dictionaryBytes = 64 * 1024;

/** A page has all rows of a part in most columns: smaller ones are compressed worse, by 3 to 40 percent. */
const pageBytes = 8 * 1024 * 1024;

/** The encoder copies the blocks of a part together, so a part is read as one. */
const blockRows = 262_144;

/**
 * zstd level 2: 5 percent faster than level 3 for 1 percent more bytes. Without Bloom filters, a tenth of a file that
 * few readers use, and without page indexes: a column has one page.
 */
const parquet = listSettings({
  output_format_parquet_compression_method: "zstd",
  output_format_compression_level: 2,
  output_format_parquet_write_bloom_filter: 0,
  output_format_parquet_write_page_index: 0,
  output_format_parquet_max_dictionary_size: dictionaryBytes,
  output_format_parquet_data_page_size: pageBytes,
  max_block_size: blockRows,
  preferred_block_size_bytes: 0,
  max_threads: 1,
});

/** A file must have every column, with a value in every row. What it says of the memory that it takes can be wrong. */
const strictly =
  "SETTINGS input_format_parquet_allow_missing_columns = 0, input_format_null_as_default = 0, " +
  `max_memory_usage = ${1024 ** 3}`;

/** Splits the blocks of a range that have facts in a time into parts of about `rowsMax` rows, or one block. */
export async function readLakeParts(
  engine: Engine,
  range: BlockRange,
  { since, until, rowsMax }: TimeSpan & { readonly rowsMax: number },
): Promise<readonly LakePart[]> {
  const where = `${blockRangeSql(range)} AND timestamp >= ${integerLiteral(since)} AND timestamp < ${integerLiteral(until)}`;
  const rows = await engine.query(
    `SELECT min(number), max(number), hex(argMax(hash, number)), max(timestamp), sum(rows) FROM (
       SELECT *, intDiv(sum(rows) OVER (ORDER BY number) - 1, ${integerLiteral(rowsMax)}) AS part FROM (
         SELECT ${blockSql} AS number, any(block_hash) AS hash, any(timestamp) AS timestamp, count() AS rows
         FROM (
           SELECT seq, timestamp, block_hash FROM fills WHERE ${where}
           UNION ALL SELECT seq, timestamp, block_hash FROM events WHERE ${where}
           UNION ALL SELECT seq, timestamp, toFixedString(unhex(substring(JSONExtractString(log, 'blockHash'), 3)), 32)
             FROM quarantine WHERE ${where}
         ) AS facts GROUP BY number
       )
     ) GROUP BY part ORDER BY part`,
  );
  return rows.map(([first, number, hash, timestamp, count]) => ({
    firstBlock: Number(first),
    last: { number: Number(number), hash: prefixed(hash) as Hash, timestamp: Number(timestamp) },
    rows: Number(count),
  }));
}

/** Reads the time of the first fact of a range, in Unix seconds; `null` when there is none. */
export async function readFirstTime(engine: Engine, range: BlockRange): Promise<number | null> {
  const selects = ["fills", "events", "quarantine"].map(
    (table) => `SELECT timestamp FROM ${table} WHERE ${blockRangeSql(range)} ORDER BY seq LIMIT 1`,
  );
  const [row] = await engine.query(
    `SELECT minOrNull(timestamp) FROM (${selects.map((one) => `(${one})`).join(" UNION ALL ")})`,
  );
  return row?.[0] === null || row === undefined ? null : Number(row[0]);
}

/** Encodes the facts of a range of blocks as a Parquet file, sorted by `seq`. `source` is the table that has them. */
export function encodeFactFile(
  part: Part,
  {
    table,
    source,
    range,
  }: { readonly table: LakeFactTable; readonly source: string; readonly range: BlockRange },
): Promise<Buffer> {
  return encode(
    part,
    `SELECT ${writtenColumns(table)} FROM ${source} WHERE ${blockRangeSql(range)} ORDER BY seq`,
  );
}

/** Encodes the trades of a range of blocks as a Parquet file; `null` when there are none. */
export function encodeTradeFile(
  part: Part,
  range: BlockRange,
  getToken: TradeFile["getToken"],
): Promise<Buffer | null> {
  return encodeTrades(part.engine, {
    from: `fills WHERE ${blockRangeSql(range)} AND role != 'taker'`,
    columns: lakeTradeColumns,
    order: "asc",
    getToken,
    format: "Parquet",
    settings: `${parquet}${getPatience(part)}`,
  });
}

/** Encodes the one-minute candles of a time, in Unix seconds, as a Parquet file, sorted by time and token. */
export function encodeCandleFile(part: Part, { since, until }: TimeSpan): Promise<Buffer> {
  return encode(
    part,
    `SELECT ${candleColumns} FROM minute_candles AS minutes FINAL
     WHERE minutes.minute >= ${integerLiteral(since)} AND minutes.minute < ${integerLiteral(until)} ORDER BY timestamp, token_id`,
  );
}

function encode(part: Part, select: string): Promise<Buffer> {
  return part.engine.queryBinary(`${select} SETTINGS ${parquet}${getPatience(part)}`, "Parquet");
}

/** Returns settings that let requests have the cores first. Older servers do not have this one. */
export function getPatience({ engine, isPatient }: Part): string {
  return isPatient && engine.kind === "embedded" ? ", os_threads_nice_value_query = 19" : "";
}

/** A file of facts. Its `path` is trusted, and what it holds is not. */
export type FactFile = { readonly table: LakeFactTable; readonly path: string };

/** Reads what the end of a Parquet file says of it: the rows, and the bytes that they take in memory. */
export async function readFileSize(engine: Engine, { path }: FactFile) {
  const sql = `SELECT num_rows, total_uncompressed_size FROM file('${path}', 'ParquetMetadata')`;
  const [[rows, bytes] = []] = await engine.query(sql);
  return { rows: Number(rows), bytes: Number(bytes) };
}

/** The rows of a file of facts as they are stored, in memory until they are dropped. */
export type LoadedFacts = { readonly table: LakeFactTable; readonly name: string };

/** A database without files: a crash leaves nothing but its name. */
const loadedDatabase = "imported";

/** Numbers the tables of this process. */
let loaded = 0;

/**
 * Decodes a file of facts, once for all that reads it: decoding takes as long as inserting. Throws when any value cannot
 * be decoded. The embedded engine reads the file, as a query: what fails is the file, not the store.
 */
export async function loadFactFile(
  engine: Engine,
  { table, path }: FactFile,
): Promise<LoadedFacts> {
  const name = `${loadedDatabase}.${table}_${loaded}`;
  loaded += 1;
  await engine.query(`CREATE DATABASE IF NOT EXISTS ${loadedDatabase} ENGINE = Memory`);
  const file = `file('${path}', 'Parquet', ${textLiteral(declaredColumns(table))})`;
  const rows = `SELECT ${storedColumns(table)} FROM ${file}`;
  const settings = `${strictly}, ${longRows}`;
  if (table !== "fills") {
    await engine.query(`CREATE TABLE ${name} ENGINE = Memory EMPTY AS ${rows}`);
    await engine.query(`INSERT INTO ${name} ${rows} ${settings}`);
    return { table, name };
  }
  await engine.query(
    `CREATE TABLE ${name} (${fillColumnsSql}) ENGINE = Memory SETTINGS ${longRows}`,
  );
  await engine.query(`INSERT INTO ${name} ${selectPacked(rows)} ${settings}`);
  const minutes = selectMinutes(name);
  await engine.query(`CREATE TABLE ${name}_minutes ENGINE = Memory EMPTY AS ${minutes}`);
  await engine.query(`INSERT INTO ${name}_minutes ${minutes}`);
  return { table, name };
}

/** Frees the memory of rows. */
export async function dropFacts(engine: Engine, { name }: LoadedFacts): Promise<void> {
  await engine.command(`DROP TABLE ${name} SYNC`);
  await engine.command(`DROP TABLE IF EXISTS ${name}_minutes SYNC`);
}

/**
 * Reads what a file of facts holds: the numbers of rows and of different keys, the first and the last position and time,
 * and the hashes of a block (empty for tables without hashes of blocks).
 */
export async function readBounds(engine: Engine, { table, name }: LoadedFacts, block: number) {
  const hashes =
    table === "fills" || table === "events"
      ? `groupUniqArrayIf(2)(hex(block_hash), seq >= ${integerLiteral(toFirstSeq(block))})`
      : "[]";
  const [row = []] = await engine.query(
    `SELECT count(), uniqExact(${keyColumns[table]}), min(seq), max(seq), min(timestamp), max(timestamp), ${hashes}
     FROM ${name}`,
  );
  const [rows = 0, keys = 0, firstSeq = 0, lastSeq = 0, since = 0, until = 0] = row.map(Number);
  const blockHashes = (row[6] as readonly string[]).map((one) => prefixed(one));
  return { rows, keys, firstSeq, lastSeq, since, until, blockHashes };
}

/** Returns the rows of a file of facts for each table that takes them. */
export function selectFacts(
  engine: Engine,
  { table, name }: LoadedFacts,
): ReadonlyMap<FactTable, SelectedRows> {
  const sources = new Map<FactTable, string>([[table, name]]);
  if (table === "fills") {
    sources.set("fills_by_token", name);
    for (const into of candleTables) sources.set(into, `${name}_minutes`);
  }
  return new Map(
    [...sources].map(([into, source]) => [
      into,
      { select: `SELECT * FROM ${source} SETTINGS ${longRows}`, engine },
    ]),
  );
}

/** Reads the position and the reason of each quarantined log. */
export async function readQuarantine(
  engine: Engine,
  { name }: LoadedFacts,
): Promise<readonly { readonly seq: Seq; readonly reason: string }[]> {
  const rows = await engine.query(`SELECT seq, reason FROM ${name} ORDER BY seq`);
  return rows.map(([seq, reason]) => ({ seq: Number(seq) as Seq, reason: String(reason) }));
}

/** Reads the kind, the subject and the payload of each event. */
export async function readEvents(
  engine: Engine,
  { name }: LoadedFacts,
): Promise<
  readonly { readonly kind: string; readonly subject: string; readonly payload: string }[]
> {
  const rows = await engine.query(`SELECT kind, hex(subject), payload FROM ${name}`);
  return rows.map(([kind, subject, payload]) => ({
    kind: String(kind),
    subject: prefixed(subject),
    payload: String(payload),
  }));
}
