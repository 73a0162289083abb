/**
 * The tables, for the embedded engine, for one server and for a cluster. Tables of facts hold final blocks only. Once
 * their commit record is written, only a repair changes rows. So no read needs FINAL, and no reorg can corrupt a
 * roll-up. Ids are raw bytes, amounts exact decimals. Token ids of all three generations have 32 bytes.
 *
 * Inserts are synchronous and fsynced: an append that has resolved survives kill -9 and a power cut.
 */
import { countNames } from "../codec/commit-counts.ts";
import { fillColumnsSql } from "../codec/fill-layout.ts";
import { balanceColumnsSql, ledgerColumnsSql } from "../codec/ledger-layout.ts";
import { hourColumnsSql, minuteColumnsSql } from "../codec/minute-layout.ts";
import type { Engine } from "../engine/engine.ts";
import { walletTables } from "./fact-tables.ts";
import { localDatabase, onCluster, type SchemaTarget } from "./schema-target.ts";
import { toolViews } from "./tool-views.ts";

type Table = {
  readonly name: string;
  readonly columns: string;
  readonly engine?: "MergeTree" | "AggregatingMergeTree" | "ReplacingMergeTree";
  readonly orderBy: string;
  readonly settings?: string;
  /** The sharding key in a cluster. Without it every server has all rows. */
  readonly shardBy?: string;
  /** Whether only servers need the table, not the embedded engine. */
  readonly isShared?: boolean;
};

/** The largest part that a merge makes. Larger merges keep the disk busy for minutes; reads wait (decision 0003). */
const mergedBytesMax = 4 * 1024 ** 3;

/**
 * Makes inserts durable and keeps files few. A part from one insert has a single data file instead of two for each
 * column: 24 files instead of about 140. A column's write buffer begins at 16 KB instead of 1 MB.
 */
const parts =
  "fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, " +
  "min_level_for_wide_part = 1, min_columns_to_activate_adaptive_write_buffer = 1, " +
  `max_bytes_to_merge_at_max_space_in_pool = ${mergedBytesMax}`;

/**
 * For tables of which pages read few rows here and there: small granules, since each part with matching rows reads at
 * least one, and all columns in one file. A page of 100 out of 125 million fills takes 4 ms; with granules of 1,024
 * rows, 10 ms.
 */
const fewRows = `index_granularity = 256, min_bytes_for_wide_part = ${2 ** 53}`;

/** The granules that one entry of a skip index of `fills` covers: each lookup reads all entries. */
const coarse = "GRANULARITY 32";

/**
 * For the narrow rows of wallets: with granules of 1,024 rows they take a tenth less disk and two fifths less CPU to
 * insert than with 256, and a page takes as long.
 */
const byAccount = `index_granularity = 1024, min_bytes_for_wide_part = ${2 ** 53}`;

/** The deduplication window: how many insert tokens a server remembers per table, for up to a week in a cluster. */
const deduplication = {
  embedded: "",
  server: ", non_replicated_deduplication_window = 10000",
  cluster:
    ", replicated_deduplication_window = 100000, replicated_deduplication_window_seconds = 604800",
} as const;

/** Without this setting the engine refuses a FixedString longer than 256 bytes. */
export const longRows = "allow_suspicious_fixed_string_types = 1";

const tables: readonly Table[] = [
  {
    // Every `OrderFilled` once, both legs and summaries, with the fields of its match, ordered by position for pages
    // over all tokens and for the trades of a wallet, whose positions are in its ledger. Bloom filters of 1.2 bytes a row
    // rule out nearly all granules in a search by order or transaction hash. `row` is a FixedString, which has no length
    // prefix.
    name: "fills",
    columns: `${fillColumnsSql},
  INDEX timestamps timestamp TYPE minmax ${coarse},
  INDEX orders order_hash TYPE bloom_filter(0.01) ${coarse},
  INDEX transactions tx_hash TYPE bloom_filter(0.01) ${coarse}`,
    orderBy: "seq",
    settings: `${fewRows}, ${longRows}`,
    shardBy: "cityHash64(token_id)",
  },
  {
    // The rows of `fills` by token, for pages of one token. The index on `seq` is for recovery and repairs.
    name: "fills_by_token",
    columns: `${fillColumnsSql},
  INDEX seqs seq TYPE minmax,
  INDEX timestamps timestamp TYPE minmax`,
    orderBy: "(token_id, seq)",
    settings: `${fewRows}, ${longRows}`,
    shardBy: "cityHash64(token_id)",
  },
  {
    // One-minute candles of each token's own trades. The engine merges the rows of one minute.
    name: "minute_candles",
    columns: `${minuteColumnsSql},
  INDEX minutes minute TYPE minmax`,
    engine: "AggregatingMergeTree",
    orderBy: "(token_id, minute)",
    settings: fewRows,
    shardBy: "cityHash64(token_id)",
  },
  {
    // One-hour candles, where `minute` is the first minute with a trade: charts of weeks read a sixtieth of the rows.
    name: "hour_candles",
    columns: `${hourColumnsSql},
  INDEX minutes minute TYPE minmax`,
    engine: "AggregatingMergeTree",
    orderBy: "(token_id, intDiv(minute, 3600))",
    settings: fewRows,
    shardBy: "cityHash64(token_id)",
  },
  {
    // All events but fills. `subject` is the condition, question, order or address that an event is about.
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
    // Every change of a wallet's tokens with its cause, by wallet. Its balance is a sum, so that a row does not depend
    // on what came before. The index on `seq` is for recovery and repairs.
    name: "ledger",
    columns: `${ledgerColumnsSql},
  INDEX seqs seq TYPE minmax`,
    orderBy: "(wallet, seq, sub)",
    settings: byAccount,
    shardBy: "cityHash64(wallet)",
  },
  {
    // The net change of every balance in each transaction, by token: balances, holders and supply are sums of these.
    name: "balance_changes",
    columns: `${balanceColumnsSql},
  INDEX seqs seq TYPE minmax`,
    orderBy: "(token_id, wallet, seq)",
    settings: byAccount,
    shardBy: "cityHash64(token_id)",
  },
  {
    // Logs of configured contracts that cannot be decoded, in full.
    name: "quarantine",
    columns: "seq UInt64, timestamp UInt32, reason String, log String",
    orderBy: "seq",
  },
  {
    // The commit records. A row states that all facts of its blocks are in the other tables, and how many. It is
    // written after them, so indexing resumes after the newest contiguous one.
    name: "commits",
    columns: `from_block UInt64,
  to_block UInt64,
  last_hash FixedString(32),
  last_timestamp UInt32,
  ${countNames.map((name) => `${name} UInt64`).join(", ")},
  anomalies UInt64`,
    orderBy: "to_block",
  },
  {
    // Ranges of blocks that were served before they were final and may have been replaced since (`reorg-log.ts`).
    name: "reorgs",
    columns: "from_block UInt64, to_block UInt64",
    orderBy: "to_block",
  },
  {
    // The block up to which unfinalized blocks may have been served. A row is written before its blocks are served.
    name: "served_heads",
    columns: "to_block UInt64",
    orderBy: "to_block",
  },
  {
    // The blocks of an append, written before any of their facts. The first row of a `from_block` counts (`claims.ts`).
    name: "claims",
    columns: "from_block UInt64, to_block UInt64, writer String",
    orderBy: "from_block",
    isShared: true,
  },
  {
    // Every change of an API key, one row for each version. All changes together give the state (`key-log.ts`).
    name: "access_log",
    columns: "version UInt64, change String",
    orderBy: "version",
    isShared: true,
  },
  {
    // Market metadata from the venue, also of markets that are not on the chain yet. The newest row of a market counts
    // (`metadata-table.ts`). Small granules, since rows have a few KB and are looked up one by one.
    name: "market_metadata",
    columns: "condition_id FixedString(32), written_ms UInt64, metadata String",
    engine: "ReplacingMergeTree",
    orderBy: "condition_id",
    settings: "index_granularity = 64",
    isShared: true,
  },
  {
    // Two rows for each repair: one when it begins, one when it has ended (`repairs.ts`).
    name: "repairs",
    columns: "repair UInt64, is_done UInt8",
    orderBy: "repair",
    isShared: true,
  },
  {
    // The blocks of each repair: a lake writes their days again.
    name: "repaired_blocks",
    columns: "id UUID, from_block UInt64, to_block UInt64",
    orderBy: "from_block",
  },
  {
    // The chain, contracts and events that the tables were made for: one row for each schema version.
    name: "identity",
    columns: "schema_version UInt32, chain_id UInt64, contracts String, events String",
    orderBy: "tuple()",
    isShared: true,
  },
];

/** Returns the names of all tables of a database on a server. */
export function getTableNames(store: WithWallets): readonly string[] {
  return getTables(store).map(({ name }) => name);
}

type WithWallets = Pick<Engine, "hasWallets">;

function getTables({ hasWallets }: WithWallets): readonly Table[] {
  return tables.filter(({ name }) => hasWallets || !walletTables.has(name));
}

/** Raise this with every statement that is added. A database on a server stores its version in `identity`. */
export const schemaVersion = 11;

/** The oldest version that is migrated. Fills of earlier versions have other columns. */
export const oldestSchemaVersion = 10;

/**
 * Returns the statements that bring the tables from `oldestSchemaVersion`, or none, to the newest. Each statement is
 * idempotent, and none removes what the previous version reads: first the server is migrated, then processes restart.
 */
export function schemaStatements(target: SchemaTarget, store: WithWallets): readonly string[] {
  const requested = getTables(store).filter(
    ({ isShared }) => target.kind !== "embedded" || isShared !== true,
  );
  return [
    ...getDatabases(target),
    ...requested.flatMap((table) => getStatements(table, target)),
    ...toolViews(target),
  ];
}

/** Returns the names of the tables that hold rows, with their databases. */
export function replicatedTables(
  target: Exclude<SchemaTarget, { kind: "embedded" }>,
  store: WithWallets,
): string[] {
  return getTables(store).map((table) => localName(table, target));
}

function getDatabases(target: SchemaTarget): readonly string[] {
  if (target.kind === "embedded") return [];
  const { database } = target;
  const names = target.kind === "server" ? [database] : [database, localDatabase(database)];
  return names.map((name) => `CREATE DATABASE IF NOT EXISTS ${name}${onCluster(target)}`);
}

/** Returns the statements that create a table. A sharded table of a cluster is a local table and a Distributed one. */
function getStatements(table: Table, target: SchemaTarget): readonly string[] {
  const { name, columns, engine: kind = "MergeTree", orderBy, shardBy } = table;
  const isSharded = target.kind === "cluster" && shardBy !== undefined;
  const engine = target.kind === "cluster" ? `Replicated${kind}${getReplica(table)}` : kind;
  const settings = [parts, table.settings].filter((one) => one !== undefined).join(", ");
  const local = localName(table, target);
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

/** Returns the name of the table that holds the rows: for a sharded table of a cluster, the local one behind it. */
function localName({ name, shardBy }: Table, target: SchemaTarget): string {
  if (target.kind === "embedded") return name;
  const isSharded = target.kind === "cluster" && shardBy !== undefined;
  return `${isSharded ? localDatabase(target.database) : target.database}.${name}`;
}

/** Returns the Keeper path and replica name of a table. A table without a sharding key is replicated by all shards. */
function getReplica({ name, shardBy }: Table): string {
  const [shard, replica] =
    shardBy === undefined ? ["all", "{shard}-{replica}"] : ["{shard}", "{replica}"];
  return `('/clickhouse/tables/${shard}/{database}/${name}', '${replica}')`;
}
