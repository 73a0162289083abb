/**
 * The market state on disk: a copy of what follows from the facts. A start continues from it, and texts need not be
 * in memory. After a crash the copy can be behind the facts, but never ahead of them in anything that counts. A copy
 * that does not fit the facts is rebuilt.
 *
 * Everything is written in one transaction, which a save commits. Until then, reads find the values
 * set last, and a crash restores those saved last.
 */

import { hash } from "node:crypto";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { storeLimits } from "../../base/config/limits.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Coverage } from "../../chain/raw-log.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import {
  isSqliteFailure,
  noticingDamage,
  withDisk,
  withinTransaction,
} from "../../storage/sqlite/sqlite-failure.ts";
import { WalCheckpoints } from "../../storage/sqlite/wal-checkpoints.ts";
import { Column, type ColumnKind, columnPageBytes } from "./column.ts";
import { DiskTable } from "./disk-table.ts";
import type { Codec, StateStore, StateTable } from "./state-store.ts";
import { UndoLog } from "./undo-log.ts";

const marketsFileName = "markets.sqlite";

/** Raise it whenever the same facts lead to another state, for example when a column is added. */
const formatVersion = 26;

const pageBytes = 16_384;

/** The page ids of one column: enough for 256 GiB. */
const pagesPerColumn = 2 ** 26;

const schema = `
  CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS columns (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE IF NOT EXISTS pages (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
`;

type MarketsFileOptions = {
  readonly contracts: Contracts;
  readonly coverage: Coverage | null;
  /** As in `CoveredFacts`. A copy that was saved before a repair is rebuilt. */
  readonly repairs: number;
  readonly clock: Clock;
};

export class MarketsFile implements StateStore {
  readonly journal = new UndoLog();
  readonly #sql: DatabaseSync;
  readonly #path: string;
  readonly #clock: Clock;
  readonly #columns: { readonly id: number; readonly column: Column }[] = [];
  readonly #tables: Pick<DiskTable<string, unknown>, "flush" | "finishLoading">[] = [];
  readonly #writePage: StatementSync;
  readonly #checkpoints: WalCheckpoints;
  readonly #countWrites: StatementSync;
  #isDamaged = false;
  #reportDamage: () => void = () => {};
  /** How many values and pages this connection had written at the last save. */
  #writesSaved = 0;
  /** When a save is allowed, and when it is due, on the monotonic clock; never while loading. */
  #due = { earliestMs: Number.POSITIVE_INFINITY, latestMs: Number.POSITIVE_INFINITY };
  /** The newest block whose facts are in the file when it is opened; `null` when the file is empty. */
  readonly savedThrough: number | null;

  private constructor(sql: DatabaseSync, { path, clock }: { path: string; clock: Clock }) {
    this.#sql = sql;
    this.#path = path;
    this.#checkpoints = new WalCheckpoints(path);
    this.#countWrites = sql.prepare("SELECT total_changes() AS writes");
    this.#clock = clock;
    this.#writePage = sql.prepare("INSERT OR REPLACE INTO pages VALUES (?, ?)");
    const through = readSetting(sql, "through");
    this.savedThrough = through === null ? null : Number(through);
  }

  /** Opens the file in a data directory. Replaces a file that is damaged or belongs to other facts. */
  static open(dataDir: string, options: MarketsFileOptions): MarketsFile {
    const { contracts, coverage, repairs, clock } = options;
    const path = join(dataDir, marketsFileName);
    const origin = getOrigin(contracts, repairs);
    const parts = { origin, path, clock };
    try {
      const sql = withDisk(() => openDatabase(path));
      const through = readSetting(sql, "through");
      const isFit =
        through === null ||
        (readSetting(sql, "origin") === origin && Number(through) <= (coverage?.last.number ?? -1));
      if (isFit) return MarketsFile.#begin(sql, parts);
      sql.close();
    } catch (thrown) {
      if (!isSqliteFailure(thrown)) throw thrown;
    }
    dropMarketsFile(dataDir);
    return withDisk(() => MarketsFile.#begin(openDatabase(path), parts));
  }

  static #begin(
    sql: DatabaseSync,
    { origin, ...parts }: { origin: string; path: string; clock: Clock },
  ) {
    sql.exec("BEGIN IMMEDIATE");
    const file = new MarketsFile(sql, parts);
    file.#set("origin", origin);
    return file;
  }

  table<Key extends string, Value>(name: string, codec?: Codec<Value>): StateTable<Key, Value> {
    const file = { sql: this.#sql, onDamaged: () => this.#recordDamage() };
    const table = new DiskTable<Key, Value>(file, name, codec ?? jsonCodec<Value>());
    this.#tables.push(table);
    return table;
  }

  column<Kind extends ColumnKind>(name: string, kind: Kind): Column<Kind> {
    const { id, block } = noticingDamage(
      () => this.#recordDamage(),
      () => this.#readColumn(name),
    );
    const column = block === null ? new Column(kind) : new Column(kind, block);
    this.#columns.push({ id, column });
    return column;
  }

  #readColumn(name: string): { id: number; block: ArrayBuffer | null } {
    this.#sql.prepare("INSERT OR IGNORE INTO columns (name) VALUES (?)").run(name);
    const row = this.#sql.prepare("SELECT id FROM columns WHERE name = ?").get(name);
    const id = Number(row?.["id"]);
    return { id, block: readSavedColumn(this.#sql, id) };
  }

  /** Whether to save: after a while, or sooner when much was written, but only as a small share of the time. */
  get isDue(): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#due.earliestMs) return false;
    return nowMs >= this.#due.latestMs || this.#writesUnsaved >= storeLimits.marketsUnsavedMax;
  }

  get #writesUnsaved(): number {
    return Number(this.#countWrites.get()?.["writes"]) - this.#writesSaved;
  }

  /** Throws `DataDirectoryUnwritableError` when the disk is full or fails. */
  save(through: number): void {
    const startedMs = this.#clock.monotonicMs();
    noticingDamage(
      () => this.#recordDamage(),
      () => withinTransaction(this.#sql, () => this.#save(through)),
    );
    const endedMs = this.#clock.monotonicMs();
    const { marketsSavedMs, marketsSavedMsMin, marketsSaveShare } = storeLimits;
    const pauseMs = Math.max(marketsSavedMsMin, (endedMs - startedMs) / marketsSaveShare);
    this.#due = {
      earliestMs: endedMs + pauseMs,
      latestMs: endedMs + Math.max(pauseMs, marketsSavedMs),
    };
  }

  #save(through: number): void {
    for (const table of this.#tables) table.flush();
    for (const { id, column } of this.#columns) {
      for (const { page, bytes } of column.drainChangedPages()) {
        this.#writePage.run(id * pagesPerColumn + page, bytes);
      }
    }
    this.#set("through", String(through));
    this.#sql.exec("COMMIT");
    this.#checkpoint();
    this.#sql.exec("BEGIN IMMEDIATE");
  }

  /** Copies the write-ahead log into the file: here when little was written or the log is long, else on a thread. */
  #checkpoint(): void {
    const writes = this.#writesUnsaved;
    const isSmall = writes <= storeLimits.marketsSmallSave;
    this.#writesSaved += writes;
    if (this.#checkpoints.isBusy) return;
    const { pages, copied } = this.#checkpoints.progress;
    const isLong = pages * pageBytes > storeLimits.marketsLogBytesMax;
    if (isLong || (isSmall && pages === copied)) {
      this.#sql.exec("PRAGMA wal_checkpoint(PASSIVE)");
      this.#checkpoints.settle();
    } else {
      this.#checkpoints.start();
    }
  }

  /**
   * Starts saving, once everything is loaded. Calls `onDamaged` when the file turns out to be damaged: a restart
   * rebuilds it.
   */
  startSaving(onDamaged: () => void = () => {}): void {
    for (const table of this.#tables) table.finishLoading();
    const firstMs = this.#clock.monotonicMs() + storeLimits.marketsSavedMsMin;
    this.#due = { earliestMs: firstMs, latestMs: firstMs };
    this.#reportDamage = onDamaged;
  }

  /** Whether a thread is copying the write-ahead log into the file. */
  get isCheckpointing(): boolean {
    return this.#checkpoints.isBusy;
  }

  /** Closes the file. Discards changes since the last save, and a damaged file. */
  close(): void {
    this.#checkpoints.close();
    // A full disk has already ended the transaction.
    if (this.#sql.isTransaction) this.#sql.exec("ROLLBACK");
    this.#sql.close();
    if (this.#isDamaged) dropMarketsFile(dirname(this.#path));
  }

  /** An open reads few pages of the file, so damage of others is found later. */
  #recordDamage(): void {
    if (this.#isDamaged) return;
    this.#isDamaged = true;
    this.#reportDamage();
  }

  #set(name: string, value: string): void {
    this.#sql.prepare("INSERT OR REPLACE INTO settings VALUES (?, ?)").run(name, value);
  }
}

/** Deletes the copy, so that the next start rebuilds it. For use when facts were changed. */
export function dropMarketsFile(dataDir: string): void {
  for (const ending of ["", "-wal", "-shm"]) {
    rmSync(join(dataDir, `${marketsFileName}${ending}`), { force: true });
  }
}

function openDatabase(path: string): DatabaseSync {
  const sql = new DatabaseSync(path, { timeout: storeLimits.marketsLockedMs });
  try {
    // NORMAL: a power failure can lose the last saves, but damages nothing.
    // A cache of 32 MiB: pages beyond it go to the log immediately, so that a save has few left to write.
    sql.exec(`PRAGMA page_size = ${pageBytes}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
      PRAGMA cache_size = -32768; PRAGMA journal_size_limit = 268435456;
      PRAGMA wal_autocheckpoint = 0; ${schema}`);
    return sql;
  } catch (thrown) {
    sql.close();
    throw thrown;
  }
}

/** Hashes what decides the state besides the facts, including the lists of creators and implementations. */
function getOrigin(contracts: Contracts, repairs: number): string {
  const { byAddress, collateral, wrappedCollateral, knownCreators, knownImplementations } =
    contracts;
  const lines = [...byAddress.values()].map((contract) => JSON.stringify(contract)).toSorted();
  const lists = [knownCreators, knownImplementations].map((list) => [...list].toSorted());
  const origin = [formatVersion, repairs, collateral, wrappedCollateral, lines, lists];
  return hash("sha256", JSON.stringify(origin));
}

/** Reads a column as it was saved last; `null` when it was never saved. */
function readSavedColumn(sql: DatabaseSync, id: number): ArrayBuffer | null {
  const range = [id * pagesPerColumn, (id + 1) * pagesPerColumn] as const;
  const newest = sql
    .prepare("SELECT max(id) AS id FROM pages WHERE id >= ? AND id < ?")
    .get(...range);
  if (typeof newest?.["id"] !== "number") return null;
  const bytes = new Uint8Array((newest["id"] - range[0] + 1) * columnPageBytes);
  const pages = sql.prepare("SELECT id, bytes FROM pages WHERE id >= ? AND id < ?");
  pages.setReturnArrays(true);
  for (const row of pages.iterate(...range)) {
    const [page, content] = row as unknown as [number, Uint8Array];
    bytes.set(content, (page - range[0]) * columnPageBytes);
  }
  return bytes.buffer;
}

/** Reads a setting of the file; `null` when it was never written. */
function readSetting(sql: DatabaseSync, name: string): string | null {
  const row = sql.prepare("SELECT value FROM settings WHERE name = ?").get(name);
  return row === undefined ? null : String(row["value"]);
}

function jsonCodec<Value>(): Codec<Value> {
  return { encode: (value) => JSON.stringify(value), decode: (text) => JSON.parse(text) as Value };
}
