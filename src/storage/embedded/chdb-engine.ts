import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { drainPending, Session } from "chdb";
import { assert } from "../../base/assert.ts";
import { storeLimits } from "../../base/config/limits.ts";
import { toError } from "../../base/errors.ts";
import type { Engine, Row, Rows } from "../engine.ts";
import {
  DataFolderBusyError,
  DataFolderDamagedError,
  DataFolderUnwritableError,
} from "./data-folder-errors.ts";
import { SessionPool } from "./session-pool.ts";
import { SpoolFile } from "./spool-file.ts";

/**
 * ClickHouse inside the process (chDB). One process per data folder: a second one gets
 * `DataFolderBusyError`. Queries cannot be cancelled, so how many may wait is bounded; over that
 * `SERVICE_UNAVAILABLE` is thrown.
 *
 * A connection does one thing at a time. Those that read are not those that write: an insert
 * waits for the disk, and a client that asks would wait with it.
 */
export class ChdbEngine implements Engine {
  readonly #writers: SessionPool;
  readonly #readers: SessionPool;
  readonly #path: string;
  #rowFiles = 0;

  private constructor(sessions: readonly Session[], path: string) {
    this.#writers = new SessionPool(sessions.slice(0, storeLimits.writersMax));
    this.#readers = new SessionPool(sessions.slice(storeLimits.writersMax));
    this.#path = path;
  }

  /** Opens the folder and makes its database, `oddwire`, when there is none. */
  static async open(path: string): Promise<ChdbEngine> {
    const sessions = openSessions(path);
    const [first] = sessions;
    assert(first !== undefined, "there is a connection");
    try {
      await written(first.queryAsync(`CREATE DATABASE IF NOT EXISTS ${database} ENGINE = Atomic`));
      for (const session of sessions) session.query(`USE ${database}`);
      return new ChdbEngine(sessions, path);
    } catch (thrown) {
      for (const session of sessions) session.close();
      throw thrown;
    }
  }

  async query(sql: string): Promise<readonly Row[]> {
    return parseRows((await this.#ask(sql, "JSONCompactEachRow")).text());
  }

  async queryNative(sql: string): Promise<Buffer> {
    const { buffer, byteOffset, byteLength } = (await this.#ask(sql, "Native")).bytes();
    return Buffer.from(buffer, byteOffset, byteLength);
  }

  async command(sql: string): Promise<void> {
    await written(this.#writers.run((writer) => writer.queryAsync(sql)));
  }

  async openRows(): Promise<SpoolFile> {
    const path = `${this.#path}-rows-${this.#rowFiles}`;
    this.#rowFiles += 1;
    return written(SpoolFile.open(path));
  }

  async insert(table: string, rows: Rows): Promise<void> {
    if (rows.length === 0) return;
    if (rows instanceof SpoolFile) return this.#insertFile(table, rows);
    const file = await this.openRows();
    try {
      await written(file.append(rows));
      await this.#insertFile(table, file);
    } finally {
      await file.close();
    }
  }

  /** The library takes rows in memory as text only, but reads binary ones from a file. */
  async #insertFile(table: string, { path }: SpoolFile): Promise<void> {
    const source = `file('${path}', 'RowBinary')`;
    const sql = `INSERT INTO ${table} ${insertSettings} SELECT * FROM ${source}`;
    await written(this.#writers.run((writer) => writer.queryAsync(sql)));
  }

  async #ask(sql: string, format: "JSONCompactEachRow" | "Native") {
    return this.#readers.run((reader) => undamaged(reader.queryAsync(sql, { format })));
  }

  async close(): Promise<void> {
    // Closing with work in flight aborts the engine for the whole process, and what ends lets the
    // next in line begin.
    do await drainPending();
    while (!this.#readers.isIdle || !this.#writers.isIdle);
    this.#readers.close();
    this.#writers.close();
    await drainPending();
  }
}

/** What the tables of SQL without a database are in. */
const database = "oddwire";

/** Throws `DataFolderBusyError` or `DataFolderDamagedError`. */
function openSessions(path: string): readonly Session[] {
  const sessions: Session[] = [];
  try {
    const { writersMax, readersMax } = storeLimits;
    while (sessions.length < writersMax + readersMax) sessions.push(new Session(path));
    for (const reader of sessions.slice(writersMax)) reader.query(readerSettings);
    return sessions;
  } catch (thrown) {
    for (const session of sessions) session.close();
    const cause = toError(thrown);
    if (isInUse(path)) {
      throw new DataFolderBusyError("another process is using this data folder", { cause });
    }
    throw new DataFolderDamagedError("the embedded engine cannot open this data folder", { cause });
  }
}

/** What writing answers. Rejects with `DataFolderUnwritableError` when it fails. */
export async function written<Result>(writing: Promise<Result>): Promise<Result> {
  try {
    return await writing;
  } catch (cause) {
    throw new DataFolderUnwritableError(
      `the data folder cannot be written: ${reasonOf(toError(cause))}`,
      { cause },
    );
  }
}

/** Of the engine's errors: a file ends early or its checksum does not match. */
const damageCodes: ReadonlySet<unknown> = new Set([32, 33, 40, 246]);

async function undamaged<Result>(reading: Promise<Result>): Promise<Result> {
  try {
    return await reading;
  } catch (thrown) {
    const cause = toError(thrown);
    const code = "clickhouseCode" in cause ? cause.clickhouseCode : null;
    if (!damageCodes.has(code)) throw cause;
    throw new DataFolderDamagedError(`the data folder cannot be read: ${reasonOf(cause)}`, {
      cause,
    });
  }
}

/** What the engine says between its codes, which it repeats. */
function reasonOf({ message }: Error): string {
  const [, reason] = /DB::\w*Exception: (?!Code: )([^(]+)/.exec(message) ?? [];
  return (reason ?? message).trim().replace(/[.:,]$/, "");
}

/**
 * The engine's error does not say why it cannot open a folder. A process that holds one has its
 * number in a locked file there, which stays behind when the process is killed.
 */
function isInUse(path: string): boolean {
  const statusFile = join(path, "status");
  if (!existsSync(statusFile)) return false;
  const [, digits] = /^PID: ([0-9]+)$/m.exec(readFileSync(statusFile, "utf8")) ?? [];
  return digits !== undefined && Number(digits) !== process.pid && isAlive(Number(digits));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (thrown) {
    // No such process; a process of another user is alive.
    return (thrown as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * One block whatever its size, and in one thread: anything else would be several inserts. The file of the rows is
 * read, not mapped, which would count it as memory of the process once more.
 */
const insertSettings =
  "SETTINGS async_insert=0, max_threads=1, max_insert_threads=1, " +
  "min_insert_block_size_rows=1000000000, min_insert_block_size_bytes=0, " +
  "storage_file_read_method='pread'";

const readerSettings =
  "SET output_format_json_quote_64bit_integers=0, output_format_json_quote_decimals=1";

function parseRows(text: string): readonly Row[] {
  if (text === "") return [];
  return JSON.parse(`[${text.trimEnd().replaceAll("\n", ",")}]`) as Row[];
}
