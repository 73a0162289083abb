import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import type { ClickHouseClient, ClickHouseSettings } from "@clickhouse/client";
import { assert } from "../../base/assert.ts";
import { serverLimits } from "../../base/config/limits.ts";
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
import { codeOf, isConnectionLost, serverUnavailable } from "./server-errors.ts";

/** Where the server is, who asks it, and for which database. */
export type ServerSettings = {
  /** Without user and password. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
  /** Made when it does not exist: then the user needs the right to. */
  readonly database: string;
  /** A folder that exists: rows of one insert are in nameless files there until they are sent. */
  readonly spoolDir: string;
  /** How long a query may take, all attempts included. */
  readonly queryTimeoutMs?: number;
};

type Statement = {
  readonly sql: string;
  /** The rows of an insert. */
  readonly rows?: () => Readable;
  readonly settings: ClickHouseSettings;
  readonly timeoutMs: number;
  /** Whether doing it twice is as good as once, so that it may be tried again when the connection is lost. */
  readonly isRepeatable: boolean;
};

/**
 * A ClickHouse server, over HTTP. Whatever fails throws `SERVICE_UNAVAILABLE`; the `cause` says why, for the log. Every
 * statement has a time limit, and how many may wait is bounded.
 */
export class ServerEngine implements Engine {
  readonly #client: ClickHouseClient;
  readonly #host: string;
  readonly #spoolDir: string;
  readonly #queryTimeoutMs: number;
  readonly #readers = new ConnectionPool(places(serverLimits.readersMax));
  readonly #writers = new ConnectionPool(places(serverLimits.writersMax));
  #rowFiles = 0;

  private constructor(client: ClickHouseClient, settings: ServerSettings) {
    const { url, spoolDir, queryTimeoutMs = serverLimits.queryTimeoutMs } = settings;
    this.#client = client;
    this.#host = new URL(url).host;
    this.#spoolDir = spoolDir;
    this.#queryTimeoutMs = queryTimeoutMs;
  }

  /** Connects, and makes the database when there is none. */
  static async open(settings: ServerSettings): Promise<ServerEngine> {
    const { database } = settings;
    assert(/^[a-z_A-Z0-9]+$/.test(database), "a database has a plain name");
    const engine = new ServerEngine(await makeClient(settings, database), settings);
    try {
      await engine.query("SELECT 1");
      return engine;
    } catch (thrown) {
      await engine.close();
      if (codeOf(toError(thrown).cause) !== unknownDatabase) throw thrown;
    }
    const other = new ServerEngine(await makeClient(settings, "default"), settings);
    try {
      await other.command(`CREATE DATABASE IF NOT EXISTS ${database}`);
    } finally {
      await other.close();
    }
    return new ServerEngine(await makeClient(settings, database), settings);
  }

  async query(sql: string): Promise<readonly Row[]> {
    const answer = await this.#read(`${sql}\nFORMAT JSONCompactEachRow`, rowSettings);
    return parseRows(answer.toString());
  }

  async queryNative(sql: string): Promise<Buffer> {
    return this.#read(`${sql}\nFORMAT Native`, {});
  }

  async command(sql: string): Promise<void> {
    await this.#write({ sql, settings: writeSettings, isRepeatable: false });
  }

  async openRows(): Promise<SpoolFile> {
    const path = `${this.#spoolDir}/facts-${process.pid}-rows-${this.#rowFiles}`;
    this.#rowFiles += 1;
    return SpoolFile.open(path);
  }

  async insert(table: string, rows: Rows, token?: string): Promise<void> {
    if (rows.length === 0) return;
    await this.#write({
      sql: `INSERT INTO ${table} FORMAT RowBinary`,
      rows: () => (rows instanceof SpoolFile ? rows.stream() : Readable.from(rows)),
      settings: insertSettings(token),
      isRepeatable: token !== undefined,
    });
  }

  async close(): Promise<void> {
    await Promise.all([this.#readers.close(), this.#writers.close()]);
    await this.#client.close();
  }

  async #read(sql: string, settings: ClickHouseSettings): Promise<Buffer> {
    const timeoutMs = this.#queryTimeoutMs;
    return this.#readers.run(() => this.#ask({ sql, settings, timeoutMs, isRepeatable: true }));
  }

  async #write(statement: Omit<Statement, "timeoutMs">): Promise<void> {
    const timeoutMs = serverLimits.writeTimeoutMs;
    await this.#writers.run(() => this.#ask({ ...statement, timeoutMs }));
  }

  /** The answer. The time limit is one for all attempts. */
  async #ask(statement: Statement): Promise<Buffer> {
    const signal = AbortSignal.timeout(statement.timeoutMs);
    for (let attempts = 1; ; attempts += 1) {
      try {
        return await this.#attempt(statement, signal);
      } catch (thrown) {
        const cause = toError(thrown);
        const { isRepeatable, timeoutMs } = statement;
        const isLast = !isRepeatable || attempts === serverLimits.attemptsMax || signal.aborted;
        if (isLast || !isConnectionLost(cause)) {
          const timedOutMs = signal.aborted ? timeoutMs : null;
          throw serverUnavailable(cause, { host: this.#host, timedOutMs });
        }
      }
      await delay(serverLimits.retryDelayMs);
    }
  }

  async #attempt(statement: Statement, signal: AbortSignal): Promise<Buffer> {
    const rows = statement.rows?.();
    try {
      const { stream } = await this.#client.exec({
        query: statement.sql,
        ...(rows === undefined ? {} : { values: rows }),
        clickhouse_settings: {
          ...statement.settings,
          max_execution_time: statement.timeoutMs / 1000,
          // What fails midway is an error with its reason, not an answer that ends early.
          wait_end_of_query: 1,
        },
        abort_signal: signal,
      });
      return await buffer(stream);
    } finally {
      rows?.destroy();
    }
  }
}

const unknownDatabase = "81";

/** They stand for connections, which the client has. */
function places(count: number): readonly number[] {
  return Array.from({ length: count }, (_, place) => place);
}

/** The client is loaded only here: who uses the embedded engine does not have it in memory. */
async function makeClient(settings: ServerSettings, database: string): Promise<ClickHouseClient> {
  const { ClickHouseLogLevel, createClient } = await import("@clickhouse/client");
  const { readersMax, writersMax, writeTimeoutMs } = serverLimits;
  return createClient({
    url: settings.url,
    username: settings.user,
    password: settings.password,
    database,
    application: "oddwire",
    max_open_connections: readersMax + writersMax,
    // Each statement has its own limit, which is never longer.
    request_timeout: writeTimeoutMs,
    log: { level: ClickHouseLogLevel.OFF },
  });
}
