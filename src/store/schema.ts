/**
 * The tables. All hold facts of final blocks only, so rows never change once their marker stands,
 * no read needs FINAL and no roll-up can be poisoned by a fork. Ids are raw bytes, amounts exact
 * decimals; the tokens of generation 1 to 3 alike are 32 bytes.
 *
 * Inserts are synchronous and fsynced: what `append` acknowledged survives kill -9 and a power cut.
 */
import { fillColumnsSql } from "./fill-layout.ts";
import { minuteColumnsSql } from "./minute-layout.ts";

/** Parts are merged into no larger ones: that keeps the disk busy for minutes, and whoever reads waits (decision 0003). */
const mergedBytesMax = 4 * 1024 ** 3;

/**
 * Durable, and light on the file system: what one insert brings is a single file instead of two for
 * each column (24 files for some 140), and a column's buffer begins at 16 KB instead of 1 MB.
 */
const parts =
  "fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, " +
  "min_level_for_wide_part = 1, min_columns_to_activate_adaptive_write_buffer = 1, " +
  `max_bytes_to_merge_at_max_space_in_pool = ${mergedBytesMax}`;

/** Every value is written, however many are zero: what is read of the files here (decision 0015) knows no other way. */
const everyValue = "ratio_of_defaults_for_sparse_serialization = 1";

/**
 * Rows read at the least where those of one token are, 50 KB of fills: few tokens have as many in a part as the
 * engine's own 8,192. It costs an insert nothing, and 52 bytes of memory a granule.
 */
const smallGranule = 512;

/**
 * Keeps all columns of a granule side by side in one file, whatever the size of a part: a page of a
 * token is read in one place, not one for each column. Writing one file costs less as well.
 */
const neverWide = 2 ** 53;

/**
 * Every `OrderFilled` once, legs and summaries, with what its match adds. Ordered by position for
 * pages over everything; the projection is the same rows by token, for pages of one token
 * (measured: 7 ms instead of 68 ms for the newest 100 of a cold token in 5 M rows). An order or a transaction
 * is found without reading the hashes of all: 1.2 bytes a row rule out 99 of 100 granules.
 */
export const fillsTable = (name: string): string => `
CREATE TABLE IF NOT EXISTS ${name} (
  ${fillColumnsSql},
  INDEX timestamps timestamp TYPE minmax,
  INDEX orders order_hash TYPE bloom_filter(0.01),
  INDEX transactions tx_hash TYPE bloom_filter(0.01),
  PROJECTION by_token (SELECT * ORDER BY token_id, seq)
    WITH SETTINGS (index_granularity = ${smallGranule}, min_bytes_for_wide_part = ${neverWide})
) ENGINE = MergeTree ORDER BY seq
SETTINGS ${parts}, ${everyValue}`;

/** One-minute candles of each token's own trades; parts of one minute merge by themselves. */
const minuteCandlesTable = `
CREATE TABLE IF NOT EXISTS oddwire.minute_candles (
  ${minuteColumnsSql},
  INDEX minutes minute TYPE minmax
) ENGINE = AggregatingMergeTree ORDER BY (token_id, minute)
SETTINGS ${parts}, ${everyValue}, index_granularity = ${smallGranule}, min_bytes_for_wide_part = ${neverWide}`;

/** Folders from before charts had a copy of their own (`chart-file.ts`) have hours here. */
const dropHours = ["hour_candles", "hour_marks"].map(
  (table) => `DROP TABLE IF EXISTS oddwire.${table} SYNC`,
);

/** Everything that is not a fill: \`subject\` is the condition, question, order or user it is about. */
const eventsTable = `
CREATE TABLE IF NOT EXISTS oddwire.events (
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
CREATE TABLE IF NOT EXISTS oddwire.quarantine (
  seq UInt64,
  timestamp UInt32,
  reason String,
  log String
) ENGINE = MergeTree ORDER BY seq
SETTINGS ${parts}`;

/**
 * The markers: a row says that all facts of its blocks are in the other tables, and how many. It is
 * written after them, so the newest contiguous one is where indexing goes on after a crash.
 */
const markersTable = `
CREATE TABLE IF NOT EXISTS oddwire.markers (
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
CREATE TABLE IF NOT EXISTS oddwire.reorgs (
  from_block UInt64,
  to_block UInt64
) ENGINE = MergeTree ORDER BY to_block
SETTINGS ${parts}`;

/** Up to which block anything may have been served before it was final; each row is written before. */
const servedHeadsTable = `
CREATE TABLE IF NOT EXISTS oddwire.served_heads (
  to_block UInt64
) ENGINE = MergeTree ORDER BY to_block
SETTINGS ${parts}`;

/** Statements that make a fresh data folder ready; they do nothing on one that is. */
export const schemaStatements: readonly string[] = [
  "CREATE DATABASE IF NOT EXISTS oddwire ENGINE = Atomic",
  fillsTable("oddwire.fills"),
  minuteCandlesTable,
  ...dropHours,
  eventsTable,
  quarantineTable,
  markersTable,
  reorgsTable,
  servedHeadsTable,
];
