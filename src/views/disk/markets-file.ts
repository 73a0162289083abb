/**
 * What the state of the markets is made of, on the disk: a copy of what follows from the facts, so
 * that a start goes on from it and texts need not be in memory. It may be behind the facts after a
 * crash, never ahead of them in anything that counts; a copy that does not fit is rebuilt.
 *
 * Everything is written in one transaction, which a save ends: what is read in between is what was
 * set last, and what a crash leaves is what was saved last.
 */
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { storeLimits } from "../../base/config/limits.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import type { Coverage } from "../../storage/recover.ts";
import {
  isSqliteFailure,
  withDisk,
  withinTransaction,
} from "../../storage/sqlite/sqlite-failure.ts";
import { WalCheckpoints } from "../../storage/sqlite/wal-checkpoints.ts";
import { Column, type ColumnKind, columnPageBytes } from "./column.ts";
import { DiskTable } from "./disk-table.ts";
import type { Codec, StateStore, StateTable } from "./state-store.ts";

const marketsFileName = "markets.sqlite";

/** To be raised whenever the state is another one for the same facts, as by another column. */
const formatVersion = 14;

const pageBytes = 16_384;

/** Pages of one column at the most: 256 GiB of it. */
const pagesPerColumn = 2 ** 26;

const schema = `
  CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS columns (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE IF NOT EXISTS pages (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
`;

type MarketsFileOptions = {
  readonly contracts: Contracts;
  readonly coverage: Coverage | null;
  /** As of `CoveredFacts`: a copy that was saved before a repair starts again. */
  readonly repairs: number;
  readonly clock: Clock;
};

export class MarketsFile implements StateStore {
  readonly #sql: DatabaseSync;
  readonly #clock: Clock;
  readonly #columns: { readonly id: number; readonly column: Column }[] = [];
  readonly #tables: Pick<DiskTable<string, unknown>, "flush" | "finishLoading">[] = [];
  readonly #writePage: StatementSync;
  readonly #checkpoints: WalCheckpoints;
  readonly #countWrites: StatementSync;
  /** How many values and pages this connection had written when it saved last. */
  #writesSaved = 0;
  /** When it may be saved and when it must, by the clock; not while loading. */
  #due = { earliestMs: Number.POSITIVE_INFINITY, latestMs: Number.POSITIVE_INFINITY };
  /** The newest block whose facts are in it; `null` when it is empty. */
  readonly savedThrough: number | null;

  private constructor(sql: DatabaseSync, { path, clock }: { path: string; clock: Clock }) {
    this.#sql = sql;
    this.#checkpoints = new WalCheckpoints(path);
    this.#countWrites = sql.prepare("SELECT total_changes() AS writes");
    this.#clock = clock;
    this.#writePage = sql.prepare("INSERT OR REPLACE INTO pages VALUES (?, ?)");
    const through = readSetting(sql, "through");
    this.savedThrough = through === null ? null : Number(through);
  }

  /** Opens the file in a data folder; one that is damaged or belongs to other facts starts again. */
  static open(dataDir: string, options: MarketsFileOptions): MarketsFile {
    const { contracts, coverage, repairs, clock } = options;
    const path = join(dataDir, marketsFileName);
    const origin = originOf(contracts, repairs);
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
    const table = new DiskTable<Key, Value>(this.#sql, name, codec ?? jsonCodec<Value>());
    this.#tables.push(table);
    return table;
  }

  column<Kind extends ColumnKind>(name: string, kind: Kind): Column<Kind> {
    this.#sql.prepare("INSERT OR IGNORE INTO columns (name) VALUES (?)").run(name);
    const row = this.#sql.prepare("SELECT id FROM columns WHERE name = ?").get(name);
    const id = Number(row?.["id"]);
    const block = readSavedColumn(this.#sql, id);
    const column = block === null ? new Column(kind) : new Column(kind, block);
    this.#columns.push({ id, column });
    return column;
  }

  /** Now and then; sooner when much is written, but only as often as saving takes a small share of the time. */
  get isDue(): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#due.earliestMs) return false;
    return nowMs >= this.#due.latestMs || this.#writesUnsaved >= storeLimits.marketsUnsavedMax;
  }

  get #writesUnsaved(): number {
    return Number(this.#countWrites.get()?.["writes"]) - this.#writesSaved;
  }

  /** Throws `DataFolderUnwritableError` when the disk is full or fails. */
  save(through: number): void {
    const startedMs = this.#clock.monotonicMs();
    withinTransaction(this.#sql, () => this.#save(through));
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
      for (const { page, bytes } of column.takeChangedPages()) {
        this.#writePage.run(id * pagesPerColumn + page, bytes);
      }
    }
    this.#set("through", String(through));
    this.#sql.exec("COMMIT");
    this.#checkpoint();
    this.#sql.exec("BEGIN IMMEDIATE");
  }

  /** Brings the log into the file: here when little was written, else on a thread. */
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

  /** To be called once everything is loaded, which a save would hold up: from then on saves are due. */
  startSaving(): void {
    for (const table of this.#tables) table.finishLoading();
    const firstMs = this.#clock.monotonicMs() + storeLimits.marketsSavedMsMin;
    this.#due = { earliestMs: firstMs, latestMs: firstMs };
  }

  /** Whether what was saved is being brought into the file. */
  get isCheckpointing(): boolean {
    return this.#checkpoints.isBusy;
  }

  /** Closes the file as it was saved last. */
  close(): void {
    this.#checkpoints.close();
    // A full disk has ended it already.
    if (this.#sql.isTransaction) this.#sql.exec("ROLLBACK");
    this.#sql.close();
  }

  #set(name: string, value: string): void {
    this.#sql.prepare("INSERT OR REPLACE INTO settings VALUES (?, ?)").run(name, value);
  }
}

/** Throws the copy away, so that the next start makes it again; for when facts were changed. */
export function dropMarketsFile(dataDir: string): void {
  for (const ending of ["", "-wal", "-shm"]) {
    rmSync(join(dataDir, `${marketsFileName}${ending}`), { force: true });
  }
}

function openDatabase(path: string): DatabaseSync {
  const sql = new DatabaseSync(path, { timeout: storeLimits.marketsLockedMs });
  try {
    // NORMAL: a loss of power may lose the last saves, and damages nothing.
    // What is written goes to the log as it comes, beyond a little: a save has to write the rest.
    sql.exec(`PRAGMA page_size = ${pageBytes}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
      PRAGMA cache_size = -32768; PRAGMA journal_size_limit = 268435456;
      PRAGMA wal_autocheckpoint = 0; ${schema}`);
    return sql;
  } catch (thrown) {
    sql.close();
    throw thrown;
  }
}

/** What besides the facts decides the state; lists of whom to trust are part of it. */
function originOf(contracts: Contracts, repairs: number): string {
  const { byAddress, collateral, wrappedCollateral, knownCreators } = contracts;
  const lines = [...byAddress.values()].map((contract) => JSON.stringify(contract)).toSorted();
  const creators = [...knownCreators].toSorted();
  return createHash("sha256")
    .update(
      JSON.stringify([formatVersion, repairs, collateral, wrappedCollateral, lines, creators]),
    )
    .digest("hex");
}

/** A column as it was saved last; `null` when nothing of it was. */
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

/** What the file says about itself under a name; `null` when that was never said. */
function readSetting(sql: DatabaseSync, name: string): string | null {
  const row = sql.prepare("SELECT value FROM settings WHERE name = ?").get(name);
  return row === undefined ? null : String(row["value"]);
}

function jsonCodec<Value>(): Codec<Value> {
  return { encode: (value) => JSON.stringify(value), decode: (text) => JSON.parse(text) as Value };
}
