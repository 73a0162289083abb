/** Reads and writes the parts of a lake: for some blocks, one Parquet file of each table. */
import type { Hash, Seq, TokenId } from "../../base/ids.ts";
import type { BlockRange, TimedBlock } from "../../chain/raw-log.ts";
import { type Engine, prefixed } from "../engine/engine.ts";
import { blockRangeSql } from "../schema/fact-tables.ts";
import { integerLiteral } from "../sql-literal.ts";
import {
  candleColumns,
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

const parquet = `SETTINGS output_format_parquet_compression_method = 'zstd', output_format_parquet_row_group_size = ${rowGroupRows}`;

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

/**
 * Reads what a file of facts holds: the numbers of rows and of different rows, and the first and the last position.
 * `path` is trusted.
 */
export async function readFileBounds(engine: Engine, path: string) {
  const [row = []] = await engine.query(
    `SELECT count(), uniqExact(cityHash64(*)), min(seq), max(seq) FROM file('${path}', 'Parquet')`,
  );
  const [rows = 0, distinct = 0, firstSeq = 0, lastSeq = 0] = row.map(Number);
  return { rows, distinct, firstSeq, lastSeq };
}

/** Reads a file of facts as rows that are ready to insert, in the order of the file. */
export function readFactFile(engine: Engine, table: LakeFactTable, path: string): Promise<Buffer> {
  const sql = `SELECT ${storedColumns(table)} FROM file('${path}', 'Parquet') ORDER BY seq`;
  return engine.queryBinary(sql, "RowBinary");
}

/** Derives the rows of `minute_candles` from a file of fills. */
export function readMinutesOfFile(engine: Engine, path: string): Promise<Buffer> {
  const fills = `SELECT ${storedColumns("fills")} FROM file('${path}', 'Parquet')`;
  return engine.queryBinary(selectMinutes(fills), "RowBinary");
}

/** Reads the position and the reason of each row of a file of quarantined logs. */
export async function readQuarantineOfFile(
  engine: Engine,
  path: string,
): Promise<readonly { readonly seq: Seq; readonly reason: string }[]> {
  const rows = await engine.query(
    `SELECT seq, reason FROM file('${path}', 'Parquet') ORDER BY seq`,
  );
  return rows.map(([seq, reason]) => ({ seq: Number(seq) as Seq, reason: String(reason) }));
}

/** Returns text as a string literal. */
function textLiteral(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
