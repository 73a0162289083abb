import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { drainPending, Session } from "chdb";
import { AppError, toError } from "../base/errors.ts";
import { storeLimits } from "../base/limits.ts";
import type { Engine, Row } from "./engine.ts";

/** The data folder is in use by another process; start again when that one has stopped. */
export class DataFolderBusyError extends Error {
  override name = "DataFolderBusyError";
}

/** The data folder cannot be opened; the message says what to do. */
export class DataFolderDamagedError extends Error {
  override name = "DataFolderDamagedError";
}

/** Nothing can be written to the data folder at present, as when its disk is full. */
export class DataFolderUnwritableError extends Error {
  override name = "DataFolderUnwritableError";
}

/**
 * ClickHouse inside the process (chDB). One process per data folder: a second one gets
 * `DataFolderBusyError`. Queries cannot be cancelled, so how many may wait is bounded; over that
 * `SERVICE_UNAVAILABLE` is thrown.
 */
export class ChdbEngine implements Engine {
  readonly #session: Session;
  #waiting = 0;

  private constructor(session: Session) {
    this.#session = session;
  }

  static open(path: string): ChdbEngine {
    try {
      return new ChdbEngine(new Session(path));
    } catch (thrown) {
      const cause = toError(thrown);
      if (isHeldByAnother(path)) {
        throw new DataFolderBusyError("another process is using this data folder", { cause });
      }
      throw new DataFolderDamagedError("the embedded engine cannot open this data folder", {
        cause,
      });
    }
  }

  async query(sql: string): Promise<readonly Row[]> {
    if (this.#waiting >= storeLimits.queriesWaitingMax) {
      throw new AppError("SERVICE_UNAVAILABLE", { retryAfterSeconds: 1 });
    }
    this.#waiting += 1;
    try {
      const settled = await this.#session.queryAsync(`${sql} ${querySettings}`, {
        format: "JSONCompactEachRow",
      });
      return parseRows(settled.text());
    } finally {
      this.#waiting -= 1;
    }
  }

  async command(sql: string): Promise<void> {
    await written(this.#session.queryAsync(sql));
  }

  async insert(table: string, rows: Buffer): Promise<void> {
    if (rows.length === 0) return;
    const inserting = this.#session.insert({
      table,
      values: rows,
      format: "TabSeparated",
      // Acknowledged must mean written: no server-side buffering.
      settings: { async_insert: 0 },
    });
    await written(inserting);
  }

  async close(): Promise<void> {
    // Closing with work in flight aborts the engine for the whole process.
    await drainPending();
    this.#session.close();
    await drainPending();
  }
}

/** Waits for a write; tells a failure in the engine's words, without the codes around them. */
async function written(writing: Promise<unknown>): Promise<void> {
  try {
    await writing;
  } catch (thrown) {
    const cause = toError(thrown);
    const [, reason] = /DB::(?:\w*)Exception: (?!Code: )([^(]+)/.exec(cause.message) ?? [];
    const what = (reason ?? cause.message).trim().replace(/\.$/, "");
    throw new DataFolderUnwritableError(`the data folder cannot be written: ${what}`, { cause });
  }
}

/**
 * The engine's error does not say why it cannot open a folder. A process that holds one has its
 * number in a locked file there, which stays behind when the process is killed.
 */
function isHeldByAnother(path: string): boolean {
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

const querySettings =
  "SETTINGS output_format_json_quote_64bit_integers=0, output_format_json_quote_decimals=1";

function parseRows(text: string): readonly Row[] {
  if (text === "") return [];
  return JSON.parse(`[${text.trimEnd().replaceAll("\n", ",")}]`) as Row[];
}
