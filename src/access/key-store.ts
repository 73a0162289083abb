import { randomUUID, timingSafeEqual } from "node:crypto";
import { assert } from "../base/assert.ts";
import { ConfigError } from "../base/config/config.ts";
import { webLimits } from "../base/config/limits.ts";
import { AppError } from "../base/errors.ts";
import { IpRanges } from "../base/ip-address.ts";
import type { Clock } from "../base/time/clock.ts";
import type { AccessDatabase } from "./access-database.ts";
import type { ApiKey, IssuedKey, KeyPosition, Keys, NewKey, VerifiedKey } from "./api-key.ts";
import { generateKey, parseKey, type Scope } from "./key-format.ts";
import { KeyedHash } from "./keyed-hash.ts";

type Row = {
  id: string;
  name: string;
  scope: Scope;
  prefix: string;
  mac: Uint8Array;
  previous_mac: Uint8Array | null;
  previous_until_ms: number | null;
  allowed_ips: string;
  created_at_ms: number;
  expires_at_ms: number | null;
  revoked_at_ms: number | null;
  last_used_at_ms: number | null;
  request_count: number;
};

/** A value that works, with what a request needs to know of its key. */
type LiveValue = VerifiedKey & {
  readonly mac: Uint8Array;
  readonly endsAtMs: number;
  readonly allowedIps: IpRanges | null;
  readonly usage: Usage;
};

/** Use of a key that is not yet written; both its values count into one. */
type Usage = { requests: number; lastUsedAtMs: number };

type KeyStoreOptions = {
  readonly database: AccessDatabase;
  readonly pepper: string;
  readonly clock: Clock;
  /** By scope, in place of what the specification says. */
  readonly requestsPerMinute?: Readonly<Record<Scope, number>>;
};

/** What became of the admin key of the configuration; `dead` if it worked once and no longer does. */
type AdminKeyImport =
  | { readonly kind: "imported" | "known"; readonly keyId: string }
  | { readonly kind: "dead"; readonly keyId: null };

/** Stands in for a key that is not there, so that a miss does the work of a hit. */
const nobody = { mac: new Uint8Array(32), endsAtMs: 0, allowedIps: null };

/** Longer texts are no values, and are not hashed. */
const valueLengthMax = 100;

/**
 * Keys in SQLite. Only HMAC-SHA-256 of a value under the pepper is stored. Requests are answered
 * from a map in memory that is read again after every change, also one by another process.
 */
export class KeyStore implements Keys {
  readonly #database: AccessDatabase;
  readonly #clock: Clock;
  readonly #keyedHash: KeyedHash;
  readonly #requestsPerMinute: Readonly<Record<Scope, number>>;
  readonly #listeners: (() => void)[] = [];
  #usages = new Map<string, Usage>();
  #live = new Map<string, LiveValue>();
  #version = -1;
  #checkedAtMs = Number.NEGATIVE_INFINITY;

  private constructor(options: KeyStoreOptions) {
    this.#database = options.database;
    this.#keyedHash = new KeyedHash(options.pepper, valueLengthMax);
    this.#clock = options.clock;
    this.#requestsPerMinute = options.requestsPerMinute ?? webLimits.keyRequestsPerMinute;
  }

  /** Throws `ConfigError` when the keys in the database were made under another pepper. */
  static open(options: KeyStoreOptions): KeyStore {
    const store = new KeyStore(options);
    options.database.atomically(() => store.#checkPepper());
    store.refresh();
    return store;
  }

  verify(value: string | undefined, ip: string): VerifiedKey | null {
    if (this.#clock.monotonicMs() - this.#checkedAtMs >= webLimits.accessRecheckMs) this.refresh();
    const nowMs = this.#clock.nowMs();
    const key = this.#find(value, ip, nowMs);
    if (key === null) return null;
    key.usage.requests += 1;
    key.usage.lastUsedAtMs = nowMs;
    return key;
  }

  isLive(key: VerifiedKey): boolean {
    const live = this.#live.get(key.fingerprint);
    return live !== undefined && this.#clock.nowMs() < live.endsAtMs;
  }

  onEnded(listener: () => void): void {
    this.#listeners.push(listener);
  }

  async create(input: NewKey): Promise<IssuedKey> {
    return this.#insert(input, generateKey(input.scope));
  }

  /**
   * Imports the admin key of the configuration, unless the value was ever issued or imported here: one that was
   * revoked, rotated or has expired since stays dead. Throws `ConfigError` when it is not an admin key.
   */
  ensureAdminKey(value: string): AdminKeyImport {
    const parsed = parseKey(value);
    if (parsed?.scope !== "admin")
      throw new ConfigError(["ODDWIRE_ADMIN_KEY must be an admin key, ow_admin_..."]);
    const mac = this.#macOf(value);
    if (this.#prepare("SELECT 1 FROM issued_values WHERE mac = ?").get(mac) !== undefined) {
      const live = this.#live.get(mac.toString("latin1"));
      const isLive = live !== undefined && this.#clock.nowMs() < live.endsAtMs;
      return isLive ? { kind: "known", keyId: live.id } : { kind: "dead", keyId: null };
    }
    const name = `environment ${parsed.prefix}`;
    const { key } = this.#insert(
      { name, scope: "admin", expiresAtMs: null, allowedIps: [] },
      value,
    );
    return { kind: "imported", keyId: key.id };
  }

  async list(page: { limit: number; after: KeyPosition | null }): Promise<readonly ApiKey[]> {
    const { createdAtMs, id } = page.after ?? { createdAtMs: Number.MAX_SAFE_INTEGER, id: "" };
    const rows = this.#prepare(
      `SELECT * FROM keys WHERE (created_at_ms, id) < (?, ?)
       ORDER BY created_at_ms DESC, id DESC LIMIT ?`,
    ).all(createdAtMs, id, page.limit) as Row[];
    return rows.map((row) => this.#toKey(row));
  }

  async get(id: string): Promise<ApiKey | null> {
    const row = this.#prepare("SELECT * FROM keys WHERE id = ?").get(id) as Row | undefined;
    return row === undefined ? null : this.#toKey(row);
  }

  async rotate(id: string, graceMs: number): Promise<IssuedKey> {
    const issued = this.#database.transaction(() => {
      const nowMs = this.#clock.nowMs();
      const row = this.#prepare(
        `SELECT * FROM keys
         WHERE id = ? AND revoked_at_ms IS NULL AND coalesce(expires_at_ms > ?, TRUE)`,
      ).get(id, nowMs) as Row | undefined;
      if (row === undefined) throw noActiveKey();
      const value = generateKey(row.scope);
      const prefix = prefixOf(value);
      // A value still in an earlier grace dies here: at most two work at a time.
      this.#prepare(
        "UPDATE keys SET mac = ?, prefix = ?, previous_mac = ?, previous_until_ms = ? WHERE id = ?",
      ).run(
        this.#rememberedMacOf(value),
        prefix,
        graceMs > 0 ? row.mac : null,
        nowMs + graceMs,
        id,
      );
      const grace = graceMs > 0 ? { previous_mac: row.mac } : { previous_mac: null };
      const rotated = { ...row, ...grace, prefix, previous_until_ms: nowMs + graceMs };
      return { key: this.#toKey(rotated), value };
    });
    this.#reload();
    return issued;
  }

  async revoke(id: string): Promise<void> {
    this.#database.transaction(() => {
      const { changes } = this.#prepare(
        "UPDATE keys SET revoked_at_ms = ? WHERE id = ? AND revoked_at_ms IS NULL",
      ).run(this.#clock.nowMs(), id);
      if (changes === 0) throw noActiveKey();
    });
    this.#reload();
  }

  /** Takes over what another process has changed; cheap when nothing was. */
  refresh(): void {
    this.#checkedAtMs = this.#clock.monotonicMs();
    if (this.#database.version() !== this.#version) this.#reload();
  }

  /** Writes the use of keys since the last time. */
  flush(): void {
    const used = [...this.#usages].filter(([, usage]) => usage.requests > 0);
    if (used.length === 0) return;
    this.#database.transaction(() => {
      const update = this.#prepare(
        `UPDATE keys SET request_count = request_count + ?,
           last_used_at_ms = max(coalesce(last_used_at_ms, 0), ?) WHERE id = ?`,
      );
      for (const [id, usage] of used) update.run(usage.requests, usage.lastUsedAtMs, id);
    });
    for (const [, usage] of used) usage.requests = 0;
  }

  /** The same work for every kind of value that does not work. */
  #find(value: string | undefined, ip: string, nowMs: number): LiveValue | null {
    const text = value !== undefined && value.length <= valueLengthMax ? value : "";
    const fingerprint = this.#keyedHash.delta(text);
    const found = this.#live.get(fingerprint);
    const candidate = found ?? nobody;
    const same = timingSafeEqual(Buffer.from(fingerprint, "latin1"), candidate.mac);
    const isUsable = works(candidate, ip, nowMs);
    return found !== undefined && same && isUsable ? found : null;
  }

  #insert(input: NewKey, value: string): IssuedKey {
    const nowMs = this.#clock.nowMs();
    const id = randomUUID();
    const prefix = prefixOf(value);
    this.#database.transaction(() => {
      this.#checkRoomFor(input.name, nowMs);
      this.#prepare(
        `INSERT INTO keys
           (id, name, scope, prefix, mac, allowed_ips, created_at_ms, expires_at_ms)
         VALUES (:id, :name, :scope, :prefix, :mac, :allowedIps, :nowMs, :expiresAtMs)`,
      ).run({
        id,
        name: input.name,
        scope: input.scope,
        prefix,
        mac: this.#rememberedMacOf(value),
        allowedIps: JSON.stringify(input.allowedIps),
        nowMs,
        expiresAtMs: input.expiresAtMs,
      });
    });
    this.#reload();
    const requestsPerMinute = this.#requestsPerMinute[input.scope];
    const unused = {
      previousUntilMs: null,
      revokedAtMs: null,
      lastUsedAtMs: null,
      requestCount: 0,
      requestsPerMinute,
    };
    return { key: { ...input, ...unused, id, prefix, createdAtMs: nowMs }, value };
  }

  /** Names are unique among keys that work, so that people can distinguishes them. */
  #checkRoomFor(name: string, nowMs: number): void {
    const { named, active } = this.#prepare(
      `SELECT count(*) AS active, count(*) FILTER (WHERE name = ?) AS named FROM keys
       WHERE revoked_at_ms IS NULL AND coalesce(expires_at_ms > ?, TRUE)`,
    ).get(name, nowMs) as { named: number; active: number };
    if (named > 0)
      throw new AppError("CONFLICT", { publicMessage: "An active key has this name already" });
    if (active >= webLimits.activeKeysMax)
      throw new AppError("CONFLICT", { publicMessage: `There are ${active} active keys already` });
  }

  /** The map is always built again from the database: one way only for a key to get into it. */
  #reload(): void {
    // A failure halfway leaves no key in force, and the next request tries again.
    this.#live = new Map();
    this.#version = -1;
    const version = this.#database.version();
    const rows = this.#prepare("SELECT * FROM keys WHERE revoked_at_ms IS NULL").all() as Row[];
    this.#usages = new Map([...this.#usages].filter(([, usage]) => usage.requests > 0));
    for (const row of rows) {
      for (const value of this.#valuesOf(row)) this.#live.set(value.fingerprint, value);
    }
    this.#version = version;
    for (const listener of this.#listeners) listener();
  }

  #valuesOf(row: Row): LiveValue[] {
    const usage = this.#usages.get(row.id) ?? { requests: 0, lastUsedAtMs: 0 };
    this.#usages.set(row.id, usage);
    const ranges = JSON.parse(row.allowed_ips) as string[];
    const allowedIps = ranges.length === 0 ? null : new IpRanges(ranges);
    const keyEndsAtMs = row.expires_at_ms ?? Number.POSITIVE_INFINITY;
    const valueOf = (mac: Uint8Array, untilMs: number): LiveValue => ({
      id: row.id,
      scope: row.scope,
      requestsPerMinute: this.#requestsPerMinute[row.scope],
      mac,
      allowedIps,
      usage,
      fingerprint: Buffer.from(mac).toString("latin1"),
      endsAtMs: Math.min(keyEndsAtMs, untilMs),
    });
    const current = valueOf(row.mac, Number.POSITIVE_INFINITY);
    if (row.previous_mac === null) return [current];
    return [current, valueOf(row.previous_mac, row.previous_until_ms ?? 0)];
  }

  #toKey(row: Row): ApiKey {
    const unsaved = this.#usages.get(row.id) ?? { requests: 0, lastUsedAtMs: 0 };
    return {
      id: row.id,
      name: row.name,
      scope: row.scope,
      prefix: row.prefix,
      requestsPerMinute: this.#requestsPerMinute[row.scope],
      allowedIps: JSON.parse(row.allowed_ips) as string[],
      createdAtMs: row.created_at_ms,
      expiresAtMs: row.expires_at_ms,
      previousUntilMs: this.#graceOf(row),
      revokedAtMs: row.revoked_at_ms,
      lastUsedAtMs: unsaved.requests > 0 ? unsaved.lastUsedAtMs : row.last_used_at_ms,
      requestCount: row.request_count + unsaved.requests,
    };
  }

  #graceOf({ previous_mac: mac, previous_until_ms: untilMs, revoked_at_ms: revoked }: Row) {
    const isRunning = mac !== null && untilMs !== null && untilMs > this.#clock.nowMs();
    return isRunning && revoked === null ? untilMs : null;
  }

  #macOf(value: string): Buffer {
    return Buffer.from(this.#keyedHash.delta(value), "latin1");
  }

  /** The MAC of a value that is issued now; within the transaction that stores the key. */
  #rememberedMacOf(value: string): Buffer {
    const mac = this.#macOf(value);
    this.#prepare("INSERT INTO issued_values VALUES (?)").run(mac);
    return mac;
  }

  /** Under another pepper every key would be refused without a reason anybody could see. */
  #checkPepper(): void {
    const check = this.#macOf("pepper check");
    this.#prepare("INSERT OR IGNORE INTO settings VALUES ('pepper_check', ?)").run(check);
    const row = this.#prepare("SELECT value FROM settings WHERE name = 'pepper_check'").get();
    if (!check.equals(row?.["value"] as Uint8Array))
      throw new ConfigError(["The pepper is not the one under which the stored keys were made"]);
  }

  #prepare(sql: string) {
    return this.#database.sql.prepare(sql);
  }
}

function works(
  { allowedIps, endsAtMs }: Pick<LiveValue, "allowedIps" | "endsAtMs">,
  ip: string,
  nowMs: number,
): boolean {
  return (allowedIps?.contains(ip) ?? true) && nowMs < endsAtMs;
}

function noActiveKey(): AppError {
  return new AppError("NOT_FOUND", { publicMessage: "There is no active key with this id" });
}

function prefixOf(value: string): string {
  const parsed = parseKey(value);
  assert(parsed !== null, "a key we made must parse");
  return parsed.prefix;
}
