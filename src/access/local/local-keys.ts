import { ConfigError } from "../../base/config/config.ts";
import { webLimits } from "../../base/config/limits.ts";
import type { ApiKey, IssuedKey, KeyPosition, VerifiedKey } from "../api-key.ts";
import { toComparedName } from "../key-format.ts";
import {
  checkKeyCounts,
  type KeyRecord,
  type KeyUse,
  noActiveKey,
  otherPepper,
} from "../key-record.ts";
import { Keys, type KeysOptions } from "../keys.ts";
import type { AccessDatabase } from "./access-database.ts";

const columns = `id, name, scope, prefix, lower(hex(mac)) AS mac,
  nullif(lower(hex(previous_mac)), '') AS previousMac, previous_until_ms AS previousUntilMs,
  allowed_ips AS allowedIps, created_at_ms AS createdAtMs, expires_at_ms AS expiresAtMs,
  revoked_at_ms AS revokedAtMs, last_used_at_ms AS lastUsedAtMs, request_count AS requests`;

type Row = Omit<KeyRecord, "allowedIps"> & KeyUse & { readonly allowedIps: string };

type LocalKeysOptions = KeysOptions & { readonly database: AccessDatabase };

/**
 * Keys in SQLite. Of a value, only its HMAC-SHA-256 under the pepper is stored. Requests are verified from a copy in
 * memory, which is read again after every change, including those of other processes.
 */
export class LocalKeys extends Keys {
  readonly isVerified = true;
  readonly #database: AccessDatabase;
  #version = -1;
  #checkedAtMs = Number.NEGATIVE_INFINITY;

  /** Throws `ConfigError` when the keys in the database were made under another pepper. */
  constructor(options: LocalKeysOptions) {
    super(options);
    this.#database = options.database;
    if (!this.#database.isReadOnly) this.#database.atomically(() => this.#checkPepper());
    this.refresh();
  }

  override verify(value: string | undefined, ip: string): VerifiedKey | null {
    if (this.clock.monotonicMs() - this.#checkedAtMs >= webLimits.accessRecheckMs) this.refresh();
    return super.verify(value, ip);
  }

  async list(page: { limit: number; after: KeyPosition | null }): Promise<readonly ApiKey[]> {
    const { createdAtMs, id } = page.after ?? { createdAtMs: Number.MAX_SAFE_INTEGER, id: "" };
    const rows = this.#prepare(
      `SELECT ${columns} FROM keys WHERE (created_at_ms, id) < (?, ?)
       ORDER BY created_at_ms DESC, id DESC LIMIT ?`,
    ).all(createdAtMs, id, page.limit) as Row[];
    return rows.map((row) => this.show(toRecord(row), row));
  }

  async get(id: string): Promise<ApiKey | null> {
    const row = this.#toRow(id);
    return row === undefined ? null : this.show(toRecord(row), row);
  }

  async rotate(id: string, graceMs: number): Promise<IssuedKey> {
    const issued = this.#database.transaction(() => {
      const row = this.#toRow(id);
      const { record, value } = this.rotated(row && toRecord(row), graceMs);
      this.#store(record);
      return { key: this.show(record, row), value };
    });
    this.#reload();
    return issued;
  }

  async revoke(id: string): Promise<void> {
    this.#database.transaction(() => {
      const { changes } = this.#prepare(
        "UPDATE keys SET revoked_at_ms = ? WHERE id = ? AND revoked_at_ms IS NULL",
      ).run(this.clock.nowMs(), id);
      if (changes === 0) throw noActiveKey();
    });
    this.#reload();
  }

  /** Applies changes of another process. Cheap when there are none. */
  refresh(): void {
    this.#checkedAtMs = this.clock.monotonicMs();
    if (this.#database.version() !== this.#version) this.#reload();
  }

  flush(): void {
    const used = this.unsavedUses();
    if (used.length === 0) return;
    this.#database.transaction(() => {
      const update = this.#prepare(
        `UPDATE keys SET request_count = request_count + ?,
           last_used_at_ms = max(coalesce(last_used_at_ms, 0), ?) WHERE id = ?`,
      );
      for (const [id, usage] of used) update.run(usage.requests, usage.lastUsedAtMs, id);
    });
    this.saved(used);
  }

  protected async insert(record: KeyRecord): Promise<boolean> {
    const isNew = this.#database.transaction(() => {
      const issued = this.#prepare("SELECT 1 FROM issued_values WHERE mac = ?");
      if (issued.get(toBytes(record.mac)) !== undefined) return false;
      const counts = this.#prepare(
        `SELECT count(*) AS active, count(*) FILTER (WHERE compared_name(name) = ?) AS named FROM keys
         WHERE revoked_at_ms IS NULL AND coalesce(expires_at_ms > ?, TRUE)`,
      ).get(toComparedName(record.name), record.createdAtMs) as { named: number; active: number };
      checkKeyCounts(counts);
      this.#store(record);
      return true;
    });
    // Another process may have imported the key a moment ago.
    this.#reload();
    return isNew;
  }

  /** Writes a new key, or a key with a new value. */
  #store({ revokedAtMs: _revokedAtMs, ...record }: KeyRecord): void {
    const mac = toBytes(record.mac);
    this.#prepare("INSERT INTO issued_values VALUES (?)").run(mac);
    this.#prepare(
      `INSERT INTO keys (id, name, scope, prefix, mac, previous_mac, previous_until_ms, allowed_ips,
         created_at_ms, expires_at_ms)
       VALUES (:id, :name, :scope, :prefix, :mac, :previousMac, :previousUntilMs, :allowedIps,
         :createdAtMs, :expiresAtMs)
       ON CONFLICT (id) DO UPDATE SET mac = :mac, prefix = :prefix, previous_mac = :previousMac,
         previous_until_ms = :previousUntilMs`,
    ).run({
      ...record,
      mac,
      previousMac: record.previousMac === null ? null : toBytes(record.previousMac),
      allowedIps: JSON.stringify(record.allowedIps),
    });
  }

  /** Rebuilds the copy in memory from the database. There is no other way for a key to get into memory. */
  #reload(): void {
    // After a failure halfway, no key works, and the next request tries again.
    this.clear();
    this.#version = -1;
    const version = this.#database.version();
    const rows = this.#prepare(
      `SELECT ${columns} FROM keys WHERE revoked_at_ms IS NULL`,
    ).all() as Row[];
    this.replace(rows.map(toRecord));
    this.#version = version;
  }

  #toRow(id: string): Row | undefined {
    return this.#prepare(`SELECT ${columns} FROM keys WHERE id = ?`).get(id) as Row | undefined;
  }

  /** Throws `ConfigError` for another pepper. Without this check, every key would be refused with no visible reason. */
  #checkPepper(): void {
    const check = toBytes(this.getMac("pepper check"));
    this.#prepare("INSERT OR IGNORE INTO settings VALUES ('pepper_check', ?)").run(check);
    const row = this.#prepare("SELECT value FROM settings WHERE name = 'pepper_check'").get();
    if (!check.equals(row?.["value"] as Uint8Array)) throw new ConfigError([otherPepper]);
  }

  #prepare(sql: string) {
    return this.#database.sql.prepare(sql);
  }
}

function toRecord({ requests: _requests, lastUsedAtMs: _lastUsedAtMs, ...row }: Row): KeyRecord {
  return { ...row, allowedIps: JSON.parse(row.allowedIps) as string[] };
}

function toBytes(mac: string): Buffer {
  return Buffer.from(mac, "hex");
}
