/** Reads and writes the parts of a lake: for some blocks, one Parquet file of each table. */
import { type Hash, type Seq, type TokenId, toFirstSeq } from "../../base/ids.ts";
import type { BlockRange, TimedBlock } from "../../chain/raw-log.ts";
import { type Engine, prefixed } from "../engine/engine.ts";
import { blockRangeSql } from "../schema/fact-tables.ts";
import { integerLiteral } from "../sql-literal.ts";
import {
  candleColumns,
  declaredColumns,
  keyColumns,
  type LakeFactTable,
  selectMinutes,
  storedColumns,
  tokenColumns,
  tradeColumns,
  writtenColumns,
} from "./lake-tables.ts";

/** What the views know about a token; see `tokenColumns`. */
export type LakeToken = readonly (string | number | null)[];

/** A block with facts, and how many rows they are. */
export type FilledBlock = TimedBlock & { readonly rows: number };

/** Rows of a row group: what DuckDB and Polars read best, and what the engine appends in one group. */
const rowGroupRows = 131_072;

/** Without Bloom filters: they take a tenth of a file, and few readers use them. */
const parquet =
  "SETTINGS output_format_parquet_compression_method = 'zstd', output_format_parquet_write_bloom_filter = 0, " +
  `output_format_parquet_row_group_size = ${rowGroupRows}`;

/** A file must have every column, with a value in every row. */
const strictly =
  "SETTINGS input_format_parquet_allow_missing_columns = 0, input_format_null_as_default = 0";

/** Reads which blocks of a range have facts, in order, from `since` until before `until`, in Unix seconds. */
export async function readFilledBlocks(
  engine: Engine,
  range: BlockRange,
  { since, until }: { readonly since: number; readonly until: number },
): Promise<readonly FilledBlock[]> {
  const where = `${blockRangeSql(range)} AND timestamp >= ${integerLiteral(since)} AND timestamp < ${integerLiteral(until)}`;
  const rows = await engine.query(
    `SELECT intDiv(seq, 1000000) AS number, hex(any(hash)), any(timestamp), count() FROM (
       SELECT seq, timestamp, block_hash AS hash FROM fills WHERE ${where}
       UNION ALL SELECT seq, timestamp, block_hash FROM events WHERE ${where}
       UNION ALL SELECT seq, timestamp, toFixedString(unhex(substring(JSONExtractString(log, 'blockHash'), 3)), 32)
         FROM quarantine WHERE ${where}
     ) GROUP BY number ORDER BY number`,
  );
  return rows.map(([number, hash, timestamp, count]) => ({
    number: Number(number),
    hash: prefixed(hash) as Hash,
    timestamp: Number(timestamp),
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

/** Encodes the facts of a range of blocks as a Parquet file, sorted by `seq`. */
export function encodeFactFile(
  engine: Engine,
  table: LakeFactTable,
  range: BlockRange,
): Promise<Buffer> {
  return engine.queryBinary(
    `SELECT ${writtenColumns(table)} FROM ${table} WHERE ${blockRangeSql(range)} ORDER BY seq ${parquet}`,
    "Parquet",
  );
}

/**
 * Encodes the trades of a range of blocks as a Parquet file; `null` when there are none. `getToken` returns a row of
 * `tokenColumns`.
 */
export async function encodeTradeFile(
  engine: Engine,
  range: BlockRange,
  getToken: (tokenId: TokenId) => LakeToken,
): Promise<Buffer | null> {
  const where = `${blockRangeSql(range)} AND role != 'taker'`;
  const found = await engine.query(`SELECT DISTINCT hex(token_id) FROM fills WHERE ${where}`);
  if (found.length === 0) return null;
  const lines = found.map(([token]) => JSON.stringify(getToken(prefixed(token) as TokenId)));
  const tokens = `SELECT toFixedString(unhex(substring(token, 3)), 32) AS token, * EXCEPT token
    FROM format(JSONCompactEachRow, '${tokenColumns}', ${textLiteral(lines.join("\n"))})`;
  return engine.queryBinary(
    `SELECT ${tradeColumns} FROM fills GLOBAL LEFT JOIN (${tokens}) AS tokens ON fills.token_id = tokens.token
     WHERE ${where} ORDER BY seq ${parquet}`,
    "Parquet",
  );
}

/** Encodes the one-minute candles of the fills of a range of blocks as a Parquet file, sorted by time and token. */
export function encodeCandleFile(engine: Engine, range: BlockRange): Promise<Buffer> {
  const fills = `SELECT * FROM fills WHERE ${blockRangeSql(range)}`;
  return engine.queryBinary(
    `SELECT ${candleColumns} FROM (${selectMinutes(fills)}) AS minutes ORDER BY timestamp, token_id ${parquet}`,
    "Parquet",
  );
}

/** A file of facts. Its `path` is trusted, and what it holds is not. */
export type FactFile = { readonly table: LakeFactTable; readonly path: string };

/** Reads what the end of a Parquet file says of it: the rows, and the bytes that they take in memory. */
export async function readFileSize(engine: Engine, { path }: FactFile) {
  const sql = `SELECT num_rows, total_uncompressed_size FROM file('${path}', 'ParquetMetadata')`;
  const [[rows, bytes] = []] = await engine.query(sql);
  return { rows: Number(rows), bytes: Number(bytes) };
}

/**
 * Reads what a file of facts holds: the numbers of rows and of different keys, the first and the last position and time,
 * and the hashes of a block (empty for tables without hashes of blocks).
 */
export async function readFileBounds(engine: Engine, file: FactFile, block: number) {
  const { table } = file;
  const hashes =
    table === "fills" || table === "events"
      ? `groupUniqArrayIf(2)(hex(block_hash), seq >= ${integerLiteral(toFirstSeq(block))})`
      : "[]";
  const [row = []] = await engine.query(
    `SELECT count(), uniqExact(${keyColumns[table]}), min(seq), max(seq), toUnixTimestamp(min(timestamp)),
       toUnixTimestamp(max(timestamp)), ${hashes} FROM ${fromFile(file)} ${strictly}`,
  );
  const [rows = 0, keys = 0, firstSeq = 0, lastSeq = 0, since = 0, until = 0] = row.map(Number);
  const blockHashes = (row[6] as readonly string[]).map((one) => prefixed(one));
  return { rows, keys, firstSeq, lastSeq, since, until, blockHashes };
}

/** Reads a file of facts as rows that are ready to insert, in the order of the file. */
export function readFactFile(engine: Engine, file: FactFile): Promise<Buffer> {
  const sql = `SELECT ${storedColumns(file.table)} FROM ${fromFile(file)} ORDER BY seq ${strictly}`;
  return engine.queryBinary(sql, "RowBinary");
}

/** Derives the rows of `minute_candles` from a file of fills. */
export function readMinutesOfFile(engine: Engine, file: FactFile): Promise<Buffer> {
  const fills = `SELECT ${storedColumns("fills")} FROM ${fromFile(file)}`;
  return engine.queryBinary(`${selectMinutes(fills)} ${strictly}`, "RowBinary");
}

/** Reads the position and the reason of each row of a file of quarantined logs. */
export async function readQuarantineOfFile(
  engine: Engine,
  file: FactFile,
): Promise<readonly { readonly seq: Seq; readonly reason: string }[]> {
  const sql = `SELECT seq, reason FROM ${fromFile(file)} ORDER BY seq ${strictly}`;
  const rows = await engine.query(sql);
  return rows.map(([seq, reason]) => ({ seq: Number(seq) as Seq, reason: String(reason) }));
}

/** Reads the kind, the subject and the payload of each row of a file of events. */
export async function readEventsOfFile(
  engine: Engine,
  file: FactFile,
): Promise<
  readonly { readonly kind: string; readonly subject: string; readonly payload: string }[]
> {
  const sql = `SELECT kind, hex(subject), payload FROM ${fromFile(file)} ${strictly}`;
  const rows = await engine.query(sql);
  return rows.map(([kind, subject, payload]) => ({
    kind: String(kind),
    subject: prefixed(subject),
    payload: String(payload),
  }));
}

function fromFile({ table, path }: FactFile): string {
  return `file('${path}', 'Parquet', ${textLiteral(declaredColumns(table))})`;
}

/** Returns text as a string literal. */
function textLiteral(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
