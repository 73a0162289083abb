import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { assert } from "../../base/assert.ts";
import { closeOnError } from "../../base/close-on-error.ts";
import { type Config, ConfigError } from "../../base/config/config.ts";
import { serverLimits } from "../../base/config/limits.ts";
import { toError } from "../../base/errors.ts";
import { type FactsIdentity, hasWallets } from "../directory/identity.ts";
import { ConnectionPool } from "../engine/connection-pool.ts";
import {
  type BinaryFormat,
  type Engine,
  insertSettings,
  parseRows,
  type Row,
  type Rows,
  rowSettings,
  type SelectedRows,
  writeSettings,
} from "../engine/engine.ts";
import { EngineMeter } from "../engine/engine-meter.ts";
import { SpoolFile } from "../engine/spool-file.ts";
import { getTarget, type StoreKind } from "../schema/schema-target.ts";
import { ServerConnections, type StatementSettings } from "./server-connections.ts";
import { isConnectionLost, isWrongServer, serverUnavailable, toCode } from "./server-errors.ts";

/** How to connect to a server and its database. */
export type ServerSettings = {
  /** The URL, without user and password. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** The cluster that the server is in; `null` for a single server. */
  readonly cluster: string | null;
  /** The folder of unlinked files that hold the rows of an insert until they are sent. */
  readonly spoolDir: string;
  /** The time limit of a query, all attempts included. */
  readonly queryTimeoutMs?: number;
  /** The identity of the facts; absent for a database of which only other tables are used. */
  readonly identity?: FactsIdentity;
};

/** Returns how to connect to the configured server. Throws `ConfigError` when none is configured. */
export function getServerSettings(config: Config): ServerSettings {
  const { clickhouseUrl: url, clickhouseUser: user, clickhouseCluster: cluster } = config;
  if (url === null) {
    throw new ConfigError(["ODDWIRE_CLICKHOUSE_URL is required: the server to use"]);
  }
  const password = config.clickhousePassword ?? "";
  const spoolDir = join(config.dataDir, "spool");
  return { url, user, password, database: config.clickhouseDatabase, cluster, spoolDir };
}

type Statement = {
  readonly timeoutMs: number;
  /** Whether the statement is idempotent, so that it may be repeated when the connection is lost. */
  readonly isRepeatable: boolean;
  /** Runs the statement once. */
  readonly attempt: (signal: AbortSignal) => Promise<Buffer>;
};

/**
 * A ClickHouse server, over HTTP. Every failure throws `SERVICE_UNAVAILABLE`; the `cause` says why, for the log. Every
 * statement has a time limit, and the number of waiting statements is bounded.
 */
export class ServerEngine implements Engine {
  readonly kind: StoreKind;
  readonly hasWallets: boolean;
  readonly meter = new EngineMeter();
  readonly #connections: ServerConnections;
  readonly #host: string;
  readonly #spoolDir: string;
  readonly #queryTimeoutMs: number;
  readonly #readers = new ConnectionPool(countUp(serverLimits.readersMax));
  readonly #writers = new ConnectionPool(countUp(serverLimits.writersMax));

  private constructor(settings: ServerSettings) {
    const { url, spoolDir, queryTimeoutMs = serverLimits.queryTimeoutMs } = settings;
    this.#connections = new ServerConnections(settings);
    this.#host = new URL(url).host;
    this.kind = getTarget(settings).kind;
    this.hasWallets = settings.identity === undefined || hasWallets(settings.identity);
    this.#spoolDir = spoolDir;
    this.#queryTimeoutMs = queryTimeoutMs;
  }

  /** Connects. Throws when the database does not exist. */
  static async open(settings: ServerSettings): Promise<ServerEngine> {
    const engine = new ServerEngine(settings);
    await closeOnError(engine, () => engine.query("SELECT 1"));
    return engine;
  }

  /** Connects, and creates the database when it does not exist, for which the user needs the right. */
  static async openOrMake(settings: ServerSettings): Promise<ServerEngine> {
    const { database } = settings;
    assert(/^[a-z_A-Z0-9]+$/.test(database), "a database has a plain name");
    try {
      return await ServerEngine.open(settings);
    } catch (thrown) {
      if (toCode(toError(thrown).cause) !== unknownDatabase) throw thrown;
    }
    const other = await ServerEngine.open({ ...settings, database: "default" });
    try {
      await other.command(`CREATE DATABASE IF NOT EXISTS ${database}`);
    } finally {
      await other.close();
    }
    return ServerEngine.open(settings);
  }

  async query(sql: string): Promise<readonly Row[]> {
    const answer = await this.#read(`${sql}\nFORMAT JSONCompactEachRow`, rowSettings);
    return parseRows(answer.toString());
  }

  async queryBinary(sql: string, format: BinaryFormat): Promise<Buffer> {
    return this.#read(`${sql}\nFORMAT ${format}`, rowSettings);
  }

  async command(sql: string): Promise<void> {
    await this.#write({ sql, settings: writeSettings, isRepeatable: false });
  }

  async openRows(): Promise<SpoolFile> {
    await mkdir(this.#spoolDir, { recursive: true });
    return SpoolFile.open(`${this.#spoolDir}/facts-${process.pid}`);
  }

  async insert(table: string, rows: Rows, token?: string): Promise<void> {
    // An insert without rows must not be measured as a fast one.
    if ("length" in rows && rows.length === 0) return;
    const statement = {
      sql: `INSERT INTO ${table} FORMAT RowBinary`,
      rows: () => toStream(rows),
      settings: insertSettings(token),
      isRepeatable: token !== undefined,
    };
    await this.meter.insert(table, () => this.#write(statement));
  }

  async close(): Promise<void> {
    await Promise.all([this.#readers.close(), this.#writers.close()]);
    this.#connections.close();
  }

  async #read(sql: string, settings: StatementSettings): Promise<Buffer> {
    const timeoutMs = this.#queryTimeoutMs;
    const ofCluster = this.kind === "cluster" ? clusterSettings : {};
    const limited = { ...settings, ...ofCluster, ...limits(timeoutMs) };
    const attempt = (signal: AbortSignal) =>
      this.#connections.run({ sql, settings: limited, signal });
    return this.meter.query(() =>
      this.#readers.run(() => this.#ask({ timeoutMs, isRepeatable: true, attempt })),
    );
  }

  async #write(statement: {
    readonly sql: string;
    readonly rows?: () => Readable;
    readonly settings: StatementSettings;
    readonly isRepeatable: boolean;
  }): Promise<void> {
    const { sql, rows, settings, isRepeatable } = statement;
    const timeoutMs = serverLimits.writeTimeoutMs;
    const limited = { ...settings, ...limits(timeoutMs) };
    const attempt = (signal: AbortSignal) =>
      this.#connections.run({ sql, rows: rows?.(), settings: limited, signal });
    await this.#writers.run(() => this.#ask({ timeoutMs, isRepeatable, attempt }));
  }

  /** Runs a statement and returns the answer. All attempts share one time limit. */
  async #ask({ timeoutMs, isRepeatable, attempt }: Statement): Promise<Buffer> {
    const signal = AbortSignal.timeout(timeoutMs);
    for (let attempts = 1; ; attempts += 1) {
      try {
        return await attempt(signal);
      } catch (thrown) {
        const cause = toError(thrown);
        if (isWrongServer(cause)) this.#connections.leaveServer();
        const isLast = !isRepeatable || attempts === serverLimits.attemptsMax || signal.aborted;
        if (isLast || !isConnectionLost(cause)) {
          const timedOutMs = signal.aborted ? timeoutMs : null;
          throw serverUnavailable(cause, { host: this.#host, timedOutMs });
        }
      }
      await delay(serverLimits.retryDelayMs);
    }
  }
}

const unknownDatabase = "81";

/**
 * All queries of a process read the same replica of a shard. It is the first in the cluster's configuration that is
 * up and at most 5 s behind. A shard that is down is an error. So no answer has fewer rows than an earlier one.
 */
const clusterSettings = {
  load_balancing: "in_order",
  max_replica_delay_for_distributed_queries: 5,
  fallback_to_stale_replicas_for_distributed_queries: 0,
  skip_unavailable_shards: 0,
  optimize_skip_unused_shards: 1,
} as const;

/** Returns the settings that limit the time, and make a failure midway an error with its reason, not a short answer. */
function limits(timeoutMs: number) {
  return { max_execution_time: timeoutMs / 1000, wait_end_of_query: 1 } as const;
}

function toStream(rows: Rows): Readable {
  if (rows instanceof SpoolFile) return rows.stream();
  const pieces = "select" in rows ? readSelected(rows) : [rows];
  return Readable.from(pieces, { objectMode: false });
}

async function* readSelected({ select, engine }: SelectedRows): AsyncGenerator<Buffer> {
  yield await engine.queryBinary(select, "RowBinary");
}

/** Returns placeholders for connections, which Node opens. */
function countUp(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}
