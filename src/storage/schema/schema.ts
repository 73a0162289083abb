/**
 * The tables, for the embedded engine, for one server and for a cluster. All hold facts of final blocks only, so rows
 * never change once their commit record is written, no read needs FINAL and no roll-up can be poisoned by a fork. Ids are
 * raw bytes, amounts exact decimals; the tokens of generation 1 to 3 alike are 32 bytes.
 *
 * Inserts are synchronous and fsynced: what `append` acknowledged survives kill -9 and a power cut.
 */
import { fillColumnsSql } from "../codec/fill-layout.ts";
import { hourColumnsSql, minuteColumnsSql } from "../codec/minute-layout.ts";
import { localDatabase, onCluster, type SchemaTarget } from "./schema-target.ts";
import { toolViews } from "./tool-views.ts";

type Table = {
  readonly name: string;
  readonly columns: string;
  readonly engine?: "MergeTree" | "AggregatingMergeTree" | "ReplacingMergeTree";
  readonly orderBy: string;
  readonly settings?: string;
  /** Which shard of a cluster a row is on; without it every server has all rows. */
  readonly shardBy?: string;
  /** Whether writers on a server need it, and the embedded engine does not. */
  readonly isShared?: boolean;
};

/** Parts are merged into no larger ones: that keeps the disk busy for minutes, and readers wait (decision 0003). */
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
 * For tables that are read a token at a time: how many rows are read at the least in each part that has some, and all
 * of their columns next to each other in one file. Pages of 100 out of 125 million fills take 4 ms, with 1,024 rows 10.
 */
const byToken = `index_granularity = 256, min_bytes_for_wide_part = ${2 ** 53}`;

/** How many inserts of a table a server remembers the tokens of, for a week in a cluster. */
const deduplication = {
  embedded: "",
  server: ", non_replicated_deduplication_window = 10000",
  cluster:
    ", replicated_deduplication_window = 100000, replicated_deduplication_window_seconds = 604800",
} as const;

/** The engine takes a fixed length above 256 for a mistake without this. */
export const longRows = "allow_suspicious_fixed_string_types = 1";

const tables: readonly Table[] = [
  {
    // Every `OrderFilled` once, legs and summaries, with what its match adds, ordered by position for pages over
    // everything. An order or a transaction is found without reading the hashes of all: 1.2 bytes a row rule out
    // nearly all granules.
    name: "fills",
    columns: `${fillColumnsSql.fills},
  INDEX timestamps timestamp TYPE minmax,
  INDEX orders order_hash TYPE bloom_filter(0.01),
  INDEX transactions tx_hash TYPE bloom_filter(0.01)`,
    orderBy: "seq",
    shardBy: "cityHash64(token_id)",
  },
  {
    // The same rows by token, for pages of one token. The index by position is for recovery and repairs. A string
    // of one length needs no length in front of it, so that both tables take the same bytes.
    name: "fills_by_token",
    columns: `${fillColumnsSql.fills_by_token},
  INDEX seqs seq TYPE minmax,
  INDEX timestamps timestamp TYPE minmax`,
    orderBy: "(token_id, seq)",
    settings: `${byToken}, ${longRows}`,
    shardBy: "cityHash64(token_id)",
  },
  {
    // One-minute candles of each token's own trades; parts of one minute merge by themselves.
    name: "minute_candles",
    columns: `${minuteColumnsSql},
  INDEX minutes minute TYPE minmax`,
    engine: "AggregatingMergeTree",
    orderBy: "(token_id, minute)",
    settings: byToken,
    shardBy: "cityHash64(token_id)",
  },
  {
    // The same by the hour, `minute` being the first one traded in: charts of weeks read a sixtieth of the rows.
    name: "hour_candles",
    columns: `${hourColumnsSql},
  INDEX minutes minute TYPE minmax`,
    engine: "AggregatingMergeTree",
    orderBy: "(token_id, intDiv(minute, 3600))",
    settings: byToken,
    shardBy: "cityHash64(token_id)",
  },
  {
    // Everything that is not a fill: `subject` is the condition, question, order or user it is about.
    name: "events",
    columns: `seq UInt64,
  timestamp UInt32,
  block_hash FixedString(32),
  tx_hash FixedString(32),
  address FixedString(20),
  kind LowCardinality(String),
  subject FixedString(32),
  payload String,
  INDEX subjects subject TYPE bloom_filter(0.01)`,
    orderBy: "(kind, seq)",
    shardBy: "cityHash64(subject)",
  },
  {
    // Logs of our contracts that could not be read, whole.
    name: "quarantine",
    columns: "seq UInt64, timestamp UInt32, reason String, log String",
    orderBy: "seq",
  },
  {
    // The commit records: a row says that all facts of its blocks are in the other tables, and how many. It is
    // written after them, so the newest contiguous one is where indexing goes on after a crash.
    name: "commits",
    columns: `from_block UInt64,
  to_block UInt64,
  last_hash FixedString(32),
  last_timestamp UInt32,
  fills UInt64,
  events UInt64,
  quarantined UInt64,
  anomalies UInt64`,
    orderBy: "to_block",
  },
  {
    // Blocks that were served before they were final, and may have been replaced since (`reorg-log.ts`).
    name: "reorgs",
    columns: "from_block UInt64, to_block UInt64",
    orderBy: "to_block",
  },
  {
    // Up to which block anything may have been served before it was final; each row is written before.
    name: "served_heads",
    columns: "to_block UInt64",
    orderBy: "to_block",
  },
  {
    // The blocks of an append, before any of their facts; the first row says where they end (`claims.ts`).
    name: "claims",
    columns: "from_block UInt64, to_block UInt64, writer String",
    orderBy: "from_block",
    isShared: true,
  },
  {
    // Every change of a key, one row a version; the state is what all of them add up to (`key-log.ts`).
    name: "access_log",
    columns: "version UInt64, change String",
    orderBy: "version",
    isShared: true,
  },
  {
    // What the venue says of markets, also of those that are not on the chain yet; the newest row of each counts
    // (`metadata-table.ts`). Rows of some KB are looked up one by one.
    name: "market_metadata",
    columns: "condition_id FixedString(32), written_ms UInt64, metadata String",
    engine: "ReplacingMergeTree",
    orderBy: "condition_id",
    settings: "index_granularity = 64",
    isShared: true,
  },
  {
    // Two rows a repair: that it begins, and that it has ended (`repairs.ts`).
    name: "repairs",
    columns: "repair UInt64, is_done UInt8",
    orderBy: "repair",
    isShared: true,
  },
  {
    // One row: what the tables were made for.
    name: "identity",
    columns: "schema_version UInt32, chain_id UInt64, contracts String, events String",
    orderBy: "tuple()",
    isShared: true,
  },
];

/** The tables of a database on a server. */
export const tableNames: readonly string[] = tables.map(({ name }) => name);

/** To be raised with every statement that is added: a database on a server has its version in `identity`. */
export const schemaVersion = 5;

/**
 * The statements that bring the tables from any version to the newest, also from nothing at all. Every one does nothing
 * where it was carried out, and none takes away what the version before reads: servers are migrated first, processes
 * restarted after.
 */
export function schemaStatements(target: SchemaTarget): readonly string[] {
  const wanted = tables.filter(({ isShared }) => target.kind !== "embedded" || isShared !== true);
  return [
    ...databasesOf(target),
    ...wanted.flatMap((table) => statementsOf(table, target)),
    ...toolViews(target),
  ];
}

/** The table that has the rows of one: in a cluster those of sharded tables are behind them. */
export function localTable(target: SchemaTarget, name: string): string {
  const isSharded = tables.some((table) => table.name === name && table.shardBy !== undefined);
  if (target.kind !== "cluster" || !isSharded) return name;
  return `${localDatabase(target.database)}.${name}`;
}

function databasesOf(target: SchemaTarget): readonly string[] {
  if (target.kind === "embedded") return [];
  const { database } = target;
  const names = target.kind === "server" ? [database] : [database, localDatabase(database)];
  return names.map((name) => `CREATE DATABASE IF NOT EXISTS ${name}${onCluster(target)}`);
}

/** In a cluster the rows of a table that is sharded are in one behind it, on each server its own. */
function statementsOf(table: Table, target: SchemaTarget): readonly string[] {
  const { name, columns, engine: kind = "MergeTree", orderBy, shardBy } = table;
  const isSharded = target.kind === "cluster" && shardBy !== undefined;
  const engine = target.kind === "cluster" ? `Replicated${kind}${replicaOf(table)}` : kind;
  const settings = [parts, table.settings].filter((one) => one !== undefined).join(", ");
  const local = isSharded ? `${localDatabase(target.database)}.${name}` : nameIn(target, name);
  const created = `
CREATE TABLE IF NOT EXISTS ${local}${onCluster(target)} (
  ${columns}
) ENGINE = ${engine} ORDER BY ${orderBy}
SETTINGS ${settings}${deduplication[target.kind]}`;
  if (!isSharded) return [created];
  const { database, cluster } = target;
  return [
    created,
    `CREATE TABLE IF NOT EXISTS ${database}.${name}${onCluster(target)} AS ${local}
ENGINE = Distributed('${cluster}', '${localDatabase(database)}', '${name}', ${shardBy}) SETTINGS ${longRows}`,
  ];
}

function nameIn(target: SchemaTarget, name: string): string {
  return target.kind === "embedded" ? name : `${target.database}.${name}`;
}

/** Where replicas find each other. Tables that are not sharded are one for all shards. */
function replicaOf({ name, shardBy }: Table): string {
  const [shard, replica] =
    shardBy === undefined ? ["all", "{shard}-{replica}"] : ["{shard}", "{replica}"];
  return `('/clickhouse/tables/${shard}/{database}/${name}', '${replica}')`;
}
