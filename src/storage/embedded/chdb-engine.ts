import { existsSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { drainPending, Session } from "chdb";
import { assert } from "../../base/assert.ts";
import { storeLimits } from "../../base/config/limits.ts";
import { toError } from "../../base/errors.ts";
import { ConnectionPool } from "../engine/connection-pool.ts";
import {
  type Engine,
  insertSettings,
  parseRows,
  type Row,
  type Rows,
  rowSettings,
  writeSettings,
} from "../engine/engine.ts";
import { SpoolFile } from "../engine/spool-file.ts";
import {
  DataFolderBusyError,
  reasonOf,
  StoreDamagedError,
  written,
} from "../engine/store-errors.ts";
import { deleteRows } from "./delete-rows.ts";

/**
 * ClickHouse inside the process (chDB). One process per data folder: a second one gets
 * `DataFolderBusyError`. Queries cannot be canceled, so how many may wait is bounded; over that
 * `SERVICE_UNAVAILABLE` is thrown.
 *
 * A connection does one thing at a time. Those that read are not those that write: an insert
 * waits for the disk, and a client that asks would wait with it.
 */
export class ChdbEngine implements Engine {
  readonly #writers: ConnectionPool<Session>;
  readonly #readers: ConnectionPool<Session>;
  readonly #sessions: readonly Session[];
  readonly #path: string;

  private constructor(sessions: readonly Session[], path: string) {
    this.#writers = new ConnectionPool(sessions.slice(0, storeLimits.writersMax));
    this.#readers = new ConnectionPool(sessions.slice(storeLimits.writersMax));
    this.#sessions = sessions;
    this.#path = path;
  }

  /** Makes what is not there: the data folder and, in it, the database. Throws as `openSessions` does. */
  static async open(dataDir: string): Promise<ChdbEngine> {
    await mkdir(dataDir, { recursive: true });
    const path = join(dataDir, "facts");
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

  async deleteRows(table: string, where: string): Promise<void> {
    await deleteRows(this, table, where);
  }

  async openRows(): Promise<SpoolFile> {
    return SpoolFile.open(this.#path);
  }

  async insert(table: string, rows: Rows, token?: string): Promise<void> {
    if (rows.length === 0) return;
    const ask = (file: SpoolFile) => this.#insertFile(table, file, token);
    if (rows instanceof SpoolFile) return ask(rows);
    const file = await this.openRows();
    try {
      await file.append(rows);
      await ask(file);
    } finally {
      await file.close();
    }
  }

  /** The library takes rows in memory as text only, but reads binary ones from a file. */
  async #insertFile(table: string, { path }: SpoolFile, token?: string): Promise<void> {
    // The file is read, not mapped, which would count it as memory of the process once more.
    const reading = { storage_file_read_method: "pread" };
    const settings = listSettings({ ...insertSettings(token), ...reading });
    const source = `file('${path}', 'RowBinary')`;
    const sql = `INSERT INTO ${table} SETTINGS ${settings} SELECT * FROM ${source}`;
    await written(this.#writers.run((writer) => writer.queryAsync(sql)));
  }

  async #ask(sql: string, format: "JSONCompactEachRow" | "Native") {
    return this.#readers.run((reader) => undamaged(reader.queryAsync(sql, { format })));
  }

  async close(): Promise<void> {
    // Closing with work in flight aborts the engine for the whole process.
    await Promise.all([this.#readers.close(), this.#writers.close()]);
    await drainPending();
    for (const session of this.#sessions) session.close();
    await drainPending();
  }
}

/** What the tables of SQL without a database are in. */
const database = "oddwire";

/** Throws `DataFolderBusyError` or `StoreDamagedError`. */
function openSessions(path: string): readonly Session[] {
  const sessions: Session[] = [];
  try {
    const { writersMax, readersMax } = storeLimits;
    while (sessions.length < writersMax + readersMax) sessions.push(new Session(path));
    for (const [index, session] of sessions.entries()) {
      session.query(`SET ${listSettings(index < writersMax ? writeSettings : rowSettings)}`);
    }
    return sessions;
  } catch (thrown) {
    for (const session of sessions) session.close();
    const cause = toError(thrown);
    if (isInUse(path)) {
      throw new DataFolderBusyError(`another process is using the data folder ${path}`, { cause });
    }
    throw new StoreDamagedError(`the embedded engine cannot open the data folder ${path}`, {
      cause,
    });
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
    throw new StoreDamagedError(`the data folder cannot be read: ${reasonOf(cause)}`, {
      cause,
    });
  }
}

/** A process that has a folder open has its number in a locked file there, which stays when it is killed. */
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

/** `a = 1, b = 'c'`. */
function listSettings(settings: Readonly<Record<string, string | number>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${typeof value === "number" ? value : `'${value}'`}`)
    .join(", ");
}
