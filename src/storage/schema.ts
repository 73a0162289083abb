/**
 * The tables. All hold facts of final blocks only, so rows never change once their commit record stands,
 * no read needs FINAL and no roll-up can be poisoned by a fork. Ids are raw bytes, amounts exact
 * decimals; the tokens of generation 1 to 3 alike are 32 bytes.
 *
 * Inserts are synchronous and fsynced: what `append` acknowledged survives kill -9 and a power cut.
 */
import { fillColumnsSql } from "./codec/fill-layout.ts";
import { hourColumnsSql, minuteColumnsSql } from "./codec/minute-layout.ts";

/** Parts are merged into no larger ones: that keeps the disk busy for minutes, and anyone who reads waits (decision 0003). */
const mergedBytesMax = 4 * 1024 ** 3;

/**
 * Durable, and light on the file system: what one insert brings is a single file instead of two for
 * each column (24 files for some 140), and a column's buffer begins at 16 KB instead of 1 MB.
 */
const parts =
  "fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, " +
  "min_level_for_wide_part = 1, min_columns_to_activate_adaptive_write_buffer = 1, " +
  `max_bytes_to_merge_at_max_space_in_pool = ${mergedBytesMax}`;

/**
 * For tables that are read a token at a time: rows read at the least where those of one token are, and all of
 * their columns next to each other in one file. With the engine's own 8,192 rows a page takes twice as long.
 */
const byToken = `${parts}, index_granularity = 1024, min_bytes_for_wide_part = ${2 ** 53}`;

/**
 * Every `OrderFilled` once, legs and summaries, with what its match adds, ordered by position for pages
 * over everything. An order or a transaction is found without reading the hashes of all: 1.2 bytes a
 * row rule out p99 granules.
 */
const fillsTable = `
CREATE TABLE IF NOT EXISTS fills (
  ${fillColumnsSql.fills},
  INDEX timestamps timestamp TYPE minmax,
  INDEX orders order_hash TYPE bloom_filter(0.01),
  INDEX transactions tx_hash TYPE bloom_filter(0.01)
) ENGINE = MergeTree ORDER BY seq
SETTINGS ${parts}`;

/** The engine takes a fixed length above 256 for a mistake, unless it is sent otherwise. */
export const longRows = "allow_suspicious_fixed_string_types = 1";

/**
 * The same rows by token, for pages of one token. The index by position is for recovery and repairs.
 * A string of one length needs no length in front of it, so that both tables take the same bytes.
 */
const fillsByTokenTable = `
CREATE TABLE IF NOT EXISTS fills_by_token (
  ${fillColumnsSql.fills_by_token},
  INDEX seqs seq TYPE minmax,
  INDEX timestamps timestamp TYPE minmax
) ENGINE = MergeTree ORDER BY (token_id, seq)
SETTINGS ${byToken}, ${longRows}`;

/** One-minute candles of each token's own trades; parts of one minute merge by themselves. */
const minuteCandlesTable = `
CREATE TABLE IF NOT EXISTS minute_candles (
  ${minuteColumnsSql},
  INDEX minutes minute TYPE minmax
) ENGINE = AggregatingMergeTree ORDER BY (token_id, minute)
SETTINGS ${byToken}`;

/** The same by the hour, `minute` being the first one traded in: charts of weeks read a sixtieth of the rows. */
const hourCandlesTable = `
CREATE TABLE IF NOT EXISTS hour_candles (
  ${hourColumnsSql},
  INDEX minutes minute TYPE minmax
) ENGINE = AggregatingMergeTree ORDER BY (token_id, intDiv(minute, 3600))
SETTINGS ${byToken}`;

/** Everything that is not a fill: \`subject\` is the condition, question, order or user it is about. */
const eventsTable = `
CREATE TABLE IF NOT EXISTS events (
  seq UInt64,
  timestamp UInt32,
  block_hash FixedString(32),
  tx_hash FixedString(32),
  address FixedString(20),
  kind LowCardinality(String),
  subject FixedString(32),
  payload String,
  INDEX subjects subject TYPE bloom_filter(0.01)
) ENGINE = MergeTree ORDER BY (kind, seq)
SETTINGS ${parts}`;

/** Logs of our contracts that could not be read, whole. */
const quarantineTable = `
CREATE TABLE IF NOT EXISTS quarantine (
  seq UInt64,
  timestamp UInt32,
  reason String,
  log String
) ENGINE = MergeTree ORDER BY seq
SETTINGS ${parts}`;

/**
 * The commit records: a row says that all facts of its blocks are in the other tables, and how many. It is
 * written after them, so the newest contiguous one is where indexing goes on after a crash.
 */
const commitsTable = `
CREATE TABLE IF NOT EXISTS commits (
  from_block UInt64,
  to_block UInt64,
  last_hash FixedString(32),
  last_timestamp UInt32,
  fills UInt64,
  events UInt64,
  quarantined UInt64,
  anomalies UInt64
) ENGINE = MergeTree ORDER BY to_block
SETTINGS ${parts}`;

/** Blocks that were served before they were final, and may have been replaced since (`reorg-log.ts`). */
const reorgsTable = `
CREATE TABLE IF NOT EXISTS reorgs (
  from_block UInt64,
  to_block UInt64
) ENGINE = MergeTree ORDER BY to_block
SETTINGS ${parts}`;

/** Up to which block anything may have been served before it was final; each row is written before. */
const servedHeadsTable = `
CREATE TABLE IF NOT EXISTS served_heads (
  to_block UInt64
) ENGINE = MergeTree ORDER BY to_block
SETTINGS ${parts}`;

/** Statements that make a fresh data folder ready; they do nothing on one that is. */
export const schemaStatements: readonly string[] = [
  fillsTable,
  fillsByTokenTable,
  minuteCandlesTable,
  hourCandlesTable,
  eventsTable,
  quarantineTable,
  commitsTable,
  reorgsTable,
  servedHeadsTable,
];
