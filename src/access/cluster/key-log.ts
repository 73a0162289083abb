import { ConfigError } from "../../base/config/config.ts";
import { accessLimits } from "../../base/config/limits.ts";
import { AppError } from "../../base/errors.ts";
import { RowWriter } from "../../storage/codec/row-writer.ts";
import type { Engine, Row } from "../../storage/engine/engine.ts";
import { integerLiteral } from "../../storage/sql-literal.ts";
import type { KeyPosition } from "../api-key.ts";
import { newestFirst } from "../ip-blocks.ts";
import { toComparedName } from "../key-format.ts";
import { isActive, type KeyRecord } from "../key-record.ts";
import { formatKeyChange, type KeyChange, parseKeyChange } from "./key-change.ts";

/** The log has a row that this version cannot read, so the current state of the keys is unknown. */
export class UnreadableLogError extends ConfigError {
  override name = "UnreadableLogError";
}

/** Makes a replica answer with every acknowledged row, or fail. */
const newest = "SETTINGS select_sequential_consistency = 1";

/** The state of all keys, folded from the rows of the log in the order of their versions. */
export class KeyFold {
  pepperCheck: string | null = null;
  /** The version of the last row, and the number of rows. */
  version = 0;
  rows = 0;
  readonly #records = new Map<string, KeyRecord>();
  /** The MACs of all values ever issued, so that none is imported again. */
  readonly #issued = new Set<string>();

  apply(version: number, change: KeyChange): void {
    this.version = version;
    this.rows += 1;
    switch (change.kind) {
      case "pepper":
        this.pepperCheck ??= change.check;
        return;
      case "stored": {
        const { record } = change;
        this.#issued.add(record.mac);
        // A revocation is for good.
        const revokedAtMs = this.#records.get(record.id)?.revokedAtMs ?? record.revokedAtMs;
        this.#records.set(record.id, { ...record, revokedAtMs });
      }
    }
  }

  get records(): readonly KeyRecord[] {
    return [...this.#records.values()];
  }

  get(id: string): KeyRecord | undefined {
    return this.#records.get(id);
  }

  wasIssued(mac: string): boolean {
    return this.#issued.has(mac);
  }

  /** Returns how many keys are active, and how many of those have the given name. */
  countActive(name: string, nowMs: number): { readonly active: number; readonly named: number } {
    const active = this.records.filter((record) => isActive(record, nowMs));
    const compared = toComparedName(name);
    const named = active.filter((record) => toComparedName(record.name) === compared);
    return { active: active.length, named: named.length };
  }

  /** Lists keys from newest to oldest, including revoked ones. */
  list(page: { limit: number; after: KeyPosition | null }): readonly KeyRecord[] {
    return newestFirst(this.records, page, ({ createdAtMs, id }) => [createdAtMs, id]);
  }
}

/**
 * The log of keys in ClickHouse, and the state it folds to. Each row is inserted under a deduplication token with its
 * version. Of several writers one succeeds; the others read its row and try the next version. Rows are never deleted.
 */
export class KeyLog {
  readonly #engine: Engine;
  #fold = new KeyFold();
  /** The read under way, and the one that starts after it. */
  #reading: Promise<void> = Promise.resolve();
  #nextReading: Promise<void> | null = null;
  readonly #onApplied: () => void;

  /** Called with the clock of ClickHouse, in Unix milliseconds. */
  readonly #onTime: (timeMs: number) => void;

  constructor(engine: Engine, on: { applied: () => void; time: (timeMs: number) => void }) {
    this.#engine = engine;
    this.#onApplied = on.applied;
    this.#onTime = on.time;
  }

  /** The state of the keys, as of the last read. */
  get fold(): KeyFold {
    return this.#fold;
  }

  /**
   * Applies new rows of the log, read after this call. Throws `SERVICE_UNAVAILABLE` without ClickHouse, and
   * `UnreadableLogError` for a row that this version cannot read; the state then stays unchanged.
   */
  async refresh(): Promise<void> {
    this.#nextReading ??= this.#afterReading();
    return this.#nextReading;
  }

  /**
   * Appends the change that `make` derives from the newest state; nothing for `null`. Returns it with its version. Passes
   * on errors of `make`.
   * Throws `SERVICE_UNAVAILABLE` without ClickHouse, in which case the change may have been made.
   */
  async append<Change extends KeyChange | null>(
    make: (fold: KeyFold) => Change,
  ): Promise<{ readonly version: number; readonly change: Change }> {
    const { appendAttemptsMax, keyChangesMax } = accessLimits;
    let tried = 0;
    for (let attempt = 0; attempt < appendAttemptsMax; attempt += 1) {
      await this.refresh();
      const change = make(this.#fold);
      if (change === null) return { version: this.#fold.version, change };
      const version = Math.max(this.#fold.version, tried) + 1;
      if (version > keyChangesMax)
        throw new AppError("CONFLICT", `The log of keys is full: it has ${keyChangesMax} changes`);
      const text = formatKeyChange(change);
      const row = new RowWriter().uint64(version).text(text).finish();
      await this.#engine.insert("access_log", row, `access:${version}`);
      await this.refresh();
      const [found] = await this.#query(`SELECT change FROM access_log WHERE version = ${version}`);
      if (found?.[0] === text) return { version, change };
      // Another writer was first, or a crash of the server left the token without its row.
      tried = version;
    }
    throw new AppError("SERVICE_UNAVAILABLE", { retryAfterSeconds: 1 });
  }

  async #afterReading(): Promise<void> {
    await this.#reading.catch(() => undefined);
    this.#nextReading = null;
    this.#reading = this.#read();
    return this.#reading;
  }

  async #read(): Promise<void> {
    const [counted] = await this.#query(
      "SELECT count(), max(version), toUnixTimestamp64Milli(now64(3)) FROM access_log",
    );
    this.#onTime(Number(counted?.[2]));
    const rows = Number(counted?.[0] ?? 0);
    if (rows === this.#fold.rows && Number(counted?.[1] ?? 0) === this.#fold.version) return;
    await this.#extend(this.#fold);
    // A row has appeared at or below the version read before: read the whole log again.
    if (this.#fold.rows < rows) this.#fold = await this.#extend(new KeyFold());
    this.#onApplied();
  }

  /** Applies the rows after those that `fold` has, all or none, and returns it. */
  async #extend(fold: KeyFold): Promise<KeyFold> {
    const rows = await this.#query(
      `SELECT version, change FROM access_log WHERE version > ${integerLiteral(fold.version)} ORDER BY version, change`,
    );
    const changes = rows.map((row) => readChange(row));
    for (const [version, change] of changes) fold.apply(version, change);
    return fold;
  }

  async #query(sql: string): Promise<readonly Row[]> {
    return this.#engine.query(`${sql} ${newest}`);
  }
}

function readChange([version, text]: Row): readonly [version: number, KeyChange] {
  const change = Number.isSafeInteger(version) ? parseKeyChange(String(text)) : null;
  if (change !== null) return [Number(version), change];
  throw new UnreadableLogError([
    `row ${String(version)} of the table access_log was written by another version of oddwire, or by something else; ` +
      "run the version that wrote it, or use another ODDWIRE_CLICKHOUSE_DATABASE",
  ]);
}
