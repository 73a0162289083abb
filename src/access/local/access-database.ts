import { chmodSync, existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { ConfigError } from "../../base/config/config.ts";
import { AppError } from "../../base/errors.ts";
import { isSqliteFailure } from "../../storage/sqlite/sqlite-failure.ts";
import { toComparedName } from "../key-format.ts";

const schemaVersion = 3;

/**
 * Keys are never deleted, so that a revoked key stays known as revoked. `issued_values` keeps the MAC of every value
 * ever created or imported, so that none can be imported again.
 */
const schema = `
  CREATE TABLE keys (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    scope TEXT NOT NULL,
    prefix TEXT NOT NULL,
    mac BLOB NOT NULL UNIQUE,
    previous_mac BLOB,
    previous_until_ms INTEGER,
    allowed_ips TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER,
    revoked_at_ms INTEGER,
    last_used_at_ms INTEGER,
    request_count INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE issued_values (mac BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TABLE ip_blocks (
    bucket TEXT PRIMARY KEY,
    reason TEXT NOT NULL,
    offenses INTEGER NOT NULL,
    blocked_at_ms INTEGER NOT NULL,
    blocked_until_ms INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE settings (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;
  PRAGMA user_version = ${schemaVersion};
`;

/** The SQLite file of keys and blocked IPs. The command line can open it while the service runs. */
export class AccessDatabase {
  readonly sql: DatabaseSync;
  /** Whether nothing is written, not even by a transaction that changes nothing. */
  readonly isReadOnly: boolean;
  readonly #dataVersion;

  private constructor(sql: DatabaseSync, isReadOnly: boolean) {
    this.sql = sql;
    this.isReadOnly = isReadOnly;
    this.#dataVersion = sql.prepare("PRAGMA data_version");
  }

  /** Opens the file, and creates it if needed. Only its owner can read it. */
  static open(path: string): AccessDatabase {
    // Waits up to 2 s for the write lock: another process holds it for one small transaction at a time.
    const sql = new DatabaseSync(path, { timeout: 2000 });
    try {
      chmodSync(path, 0o600);
      // FULL: an acknowledged change survives a loss of power.
      sql.function("compared_name", { deterministic: true }, (name) =>
        toComparedName(String(name)),
      );
      sql.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
      const database = new AccessDatabase(sql, false);
      database.atomically(() => database.#prepare(path));
      return database;
    } catch (thrown) {
      sql.close();
      throw thrown;
    }
  }

  /** Opens the file without writing to its folder. Without a file, it is as if there were an empty one. */
  static openReadOnly(path: string): AccessDatabase {
    if (!existsSync(path)) {
      const empty = new DatabaseSync(":memory:");
      empty.exec(schema);
      return new AccessDatabase(empty, true);
    }
    const url = pathToFileURL(path);
    // Without a log of a service that runs or was killed, SQLite would make one, and leave it.
    if (!existsSync(`${path}-wal`)) url.searchParams.set("immutable", "1");
    const sql = new DatabaseSync(url, { readOnly: true, timeout: 2000 });
    try {
      const database = new AccessDatabase(sql, true);
      database.#prepare(path);
      return database;
    } catch (thrown) {
      sql.close();
      throw thrown;
    }
  }

  /** Reads all pages. Damage of an index or of `issued_values` is otherwise only noticed when a key is added. */
  isWhole(): boolean {
    return this.sql.prepare("PRAGMA quick_check(1)").get()?.["quick_check"] === "ok";
  }

  /** Runs `work` in a transaction: commits all of its changes, or none. */
  atomically<T>(work: () => T): T {
    this.sql.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.sql.exec("COMMIT");
      return result;
    } catch (thrown) {
      if (this.sql.isTransaction) this.sql.exec("ROLLBACK");
      throw thrown;
    }
  }

  /** Runs `work` in a transaction for a request. Throws `SERVICE_UNAVAILABLE` when SQLite fails. */
  transaction<T>(work: () => T): T {
    try {
      return this.atomically(work);
    } catch (thrown) {
      if (!isSqliteFailure(thrown)) throw thrown;
      throw new AppError("SERVICE_UNAVAILABLE", { cause: thrown, retryAfterSeconds: 1 });
    }
  }

  /** Returns a number that changes whenever another connection commits. Takes 3 us. */
  version(): number {
    return Number(this.#dataVersion.get()?.["data_version"]);
  }

  close(): void {
    this.sql.close();
  }

  #prepare(path: string): void {
    const version = Number(this.sql.prepare("PRAGMA user_version").get()?.["user_version"]);
    if (version === 0 && !this.isReadOnly) this.sql.exec(schema);
    else if (version !== schemaVersion)
      throw new ConfigError([
        `${path} has format ${version}, this version of oddwire needs format ${schemaVersion}; run the version that made it`,
      ]);
  }
}
