import { closeSync, openSync } from "node:fs";
import { mkdir, statfs } from "node:fs/promises";
import { devNull } from "node:os";
import { join } from "node:path";
import type * as chdb from "chdb";
import { assert } from "../../base/assert.ts";
import { ConfigError } from "../../base/config/config.ts";
import { storeLimits } from "../../base/config/limits.ts";
import { toError } from "../../base/errors.ts";
import { ConnectionPool } from "../engine/connection-pool.ts";
import {
  type BinaryFormat,
  type Engine,
  insertSettings,
  listSettings,
  parseRows,
  type Row,
  type Rows,
  rowSettings,
  writeSettings,
} from "../engine/engine.ts";
import { EngineMeter } from "../engine/engine-meter.ts";
import { SpoolFile } from "../engine/spool-file.ts";
import {
  awaitWrite,
  DataDirectoryUnwritableError,
  getReason,
  StoreDamagedError,
} from "../engine/store-errors.ts";

/**
 * ClickHouse inside the process (chDB). Only one process can have a data directory open: `lockDataDirectory` first.
 * Queries cannot be canceled, so the number that may wait is bounded. Over it, queries throw
 * `SERVICE_UNAVAILABLE`.
 *
 * A connection runs one statement at a time. Reads and writes have separate connections: an insert
 * waits for the disk, and queries of clients would wait with it.
 */
export class ChdbEngine implements Engine {
  readonly kind = "embedded";
  readonly hasWallets: boolean;
  readonly meter = new EngineMeter();
  readonly #writers: ConnectionPool<chdb.Session>;
  readonly #readers: ConnectionPool<chdb.Session>;
  /** One turn for all Arrow streams: beside three exports cold pages take 6 ms at p50, and 140 if they use all readers. */
  readonly #exports = new ConnectionPool(["turn"]);
  readonly #sessions: readonly chdb.Session[];
  readonly #path: string;
  readonly #library: Library;

  private constructor(
    library: Library,
    sessions: readonly chdb.Session[],
    { path, hasWallets }: { readonly path: string; readonly hasWallets: boolean },
  ) {
    this.hasWallets = hasWallets;
    this.#library = library;
    this.#writers = new ConnectionPool(sessions.slice(0, storeLimits.writersMax));
    this.#readers = new ConnectionPool(sessions.slice(storeLimits.writersMax));
    this.#sessions = sessions;
    this.#path = path;
  }

  /**
   * Opens the engine, and creates the data directory and the database in it if missing. Throws as `openSessions` does,
   * `ConfigError` when the engine is not installed or too few files can be open, and `DataDirectoryUnwritableError`.
   */
  static async open(dataDir: string, hasWallets = true): Promise<ChdbEngine> {
    const library = await loadLibrary();
    await mkdir(dataDir, { recursive: true });
    await refuseNoRoom(dataDir);
    refuseFewFiles();
    const path = join(dataDir, "facts");
    const sessions = openSessions(library, path);
    const [first] = sessions;
    assert(first !== undefined, "there is a connection");
    try {
      await awaitWrite(
        first.queryAsync(`CREATE DATABASE IF NOT EXISTS ${database} ENGINE = Atomic`),
      );
      for (const session of sessions) session.query(`USE ${database}`);
      return new ChdbEngine(library, sessions, { path, hasWallets });
    } catch (thrown) {
      for (const session of sessions) session.close();
      throw thrown;
    }
  }

  async query(sql: string): Promise<readonly Row[]> {
    return parseRows((await this.#ask(sql, "JSONCompactEachRow")).text());
  }

  async queryBinary(sql: string, format: BinaryFormat): Promise<Buffer> {
    const ask = () => this.#ask(sql, format);
    const answer = await (format === "ArrowStream" ? this.#exports.run(ask) : ask());
    const { buffer, byteOffset, byteLength } = answer.bytes();
    return Buffer.from(buffer, byteOffset, byteLength);
  }

  async command(sql: string): Promise<void> {
    await awaitWrite(this.#writers.run((writer) => writer.queryAsync(sql)));
  }

  async openRows(): Promise<SpoolFile> {
    return SpoolFile.open(this.#path);
  }

  async insert(table: string, rows: Rows, token?: string): Promise<void> {
    // An insert without rows must not be measured as a fast one.
    if ("length" in rows && rows.length === 0) return;
    await this.meter.insert(table, async () => {
      if ("select" in rows) return this.#insertSelected(table, rows.select, token);
      if (rows instanceof SpoolFile) return this.#insertSelected(table, selectRows(rows), token);
      const file = await this.openRows();
      try {
        await file.append(rows);
        await this.#insertSelected(table, selectRows(file), token);
      } finally {
        await file.close();
      }
    });
  }

  async #insertSelected(table: string, select: string, token?: string): Promise<void> {
    // Files are read, not mapped: a mapping would count as memory of the process.
    const reading = { storage_file_read_method: "pread" };
    const settings = listSettings({ ...insertSettings(token), ...reading });
    const sql = `INSERT INTO ${table} SETTINGS ${settings} ${select}`;
    await awaitWrite(this.#writers.run((writer) => writer.queryAsync(sql)));
  }

  async #ask(sql: string, format: "JSONCompactEachRow" | BinaryFormat) {
    return this.meter.query(() =>
      this.#readers.run((reader) => undamaged(reader.queryAsync(sql, { format }))),
    );
  }

  async close(): Promise<void> {
    // Closing with work in flight aborts the engine of the whole process.
    await this.#exports.close();
    await Promise.all([this.#readers.close(), this.#writers.close()]);
    await this.#library.drainPending();
    for (const session of this.#sessions) session.close();
    await this.#library.drainPending();
  }
}

/** The default database of all statements. */
const database = "oddwire";

type Library = typeof chdb;

/**
 * Loads the engine, which is a package of its own for each platform. Package managers leave that out
 * when no build exists for the platform or optional packages are not wanted. Throws `ConfigError`.
 */
async function loadLibrary(): Promise<Library> {
  try {
    return await import("chdb");
  } catch (thrown) {
    const { platform, arch } = process;
    const { message } = toError(thrown);
    if (!message.includes("not installed")) {
      throw new ConfigError([
        `the embedded engine does not load on ${platform}-${arch}: ${message}`,
      ]);
    }
    const build = `${platform}-${arch}${platform === "linux" ? "-gnu" : ""}`;
    const remedy = platformBuilds.includes(build)
      ? `run npm install --include=optional, which adds @chdb/lib-${build}`
      : `it exists for ${platformBuilds.join(", ")}`;
    const server = "or keep the facts in a ClickHouse server (ODDWIRE_CLICKHOUSE_URL)";
    throw new ConfigError([
      `the embedded engine is not installed for ${platform}-${arch}: ${remedy}, ${server}`,
    ]);
  }
}

/** The builds of chDB 3.4, from the optional dependencies of its package. */
const platformBuilds = ["linux-x64-gnu", "linux-arm64-gnu", "darwin-arm64", "darwin-x64"];

/** The engine writes while it loads its parts, and detaches parts that it cannot load. On a full disk it must not try. */
async function refuseNoRoom(dataDir: string): Promise<void> {
  const { bavail, bsize } = await statfs(dataDir);
  if (bavail * bsize >= storeLimits.startBytesFreeMin) return;
  throw new DataDirectoryUnwritableError("less than 1 MiB is free");
}

/** When it cannot open a file, the engine fails in ways that look like a damaged directory or a full disk. */
function refuseFewFiles(): void {
  const opened: number[] = [];
  try {
    while (opened.length < storeLimits.startFilesMin) opened.push(openSync(devNull, "r"));
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EMFILE") throw thrown;
    throw new ConfigError([fewFiles]);
  } finally {
    for (const file of opened) closeSync(file);
  }
}

const fewFiles =
  "the limit of open files is too low for the embedded engine; raise it, for example with ulimit -n 65536";

/** The engine keeps 1,000 idle threads by default, and each of them three open files. */
const connectionArgs = ["--max_thread_pool_free_size=16"];

/** Opens all connections. Throws `StoreDamagedError`. */
function openSessions(library: Library, path: string): readonly chdb.Session[] {
  const sessions: chdb.Session[] = [];
  try {
    const { writersMax, readersMax } = storeLimits;
    while (sessions.length < writersMax + readersMax)
      sessions.push(new library.Session(path, { connectionArgs }));
    for (const [index, session] of sessions.entries()) {
      session.query(`SET ${listSettings(index < writersMax ? writeSettings : rowSettings)}`);
    }
    return sessions;
  } catch (thrown) {
    for (const session of sessions) session.close();
    const cause = toError(thrown);
    const what = `the embedded engine cannot open the data directory ${path}: ${getReason(cause)}`;
    throw new StoreDamagedError(what, { cause });
  }
}

/** Codes of the engine for a file that ends early, or whose content or checksum is wrong. */
const damageCodes: ReadonlySet<unknown> = new Set([32, 33, 40, 246]);

async function undamaged<Result>(reading: Promise<Result>): Promise<Result> {
  try {
    return await reading;
  } catch (thrown) {
    const cause = toError(thrown);
    const code = "clickhouseCode" in cause ? cause.clickhouseCode : null;
    if (!damageCodes.has(code)) throw cause;
    throw new StoreDamagedError(`the data directory cannot be read: ${getReason(cause)}`, {
      cause,
    });
  }
}

/** Selects the rows of a file. The library takes rows from memory only as text, but reads binary rows from a file. */
function selectRows({ path }: SpoolFile): string {
  return `SELECT * FROM file('${path}', 'RowBinary')`;
}
