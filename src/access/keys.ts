import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { webLimits } from "../base/config/limits.ts";
import { IpRanges } from "../base/ip-address.ts";
import type { Clock } from "../base/time/clock.ts";
import type { ApiKey, IssuedKey, KeyPosition, NewKey, VerifiedKey } from "./api-key.ts";
import { generateKey, type Scope } from "./key-format.ts";
import {
  type AdminKeyImport,
  getAdminKey,
  getPrefix,
  isActive,
  type KeyRecord,
  type KeyUse,
  noActiveKey,
} from "./key-record.ts";
import { KeyedHash } from "./keyed-hash.ts";

type LiveValue = VerifiedKey & {
  readonly mac: Uint8Array;
  readonly endsAtMs: number;
  readonly allowedIps: IpRanges | null;
  readonly usage: Usage;
};

/** The use of a key that is not yet written. Both values of a key share one. */
type Usage = { requests: number; lastUsedAtMs: number };

/** What verifying keys needs. */
export type KeysOptions = {
  /** The secret that values are hashed with; the same on all nodes of a cluster. */
  readonly pepper: string;
  readonly clock: Clock;
  /** Limits by scope; the defaults are in `base/config/limits.ts`. */
  readonly requestsPerMinute?: Readonly<Record<Scope, number>> | undefined;
};

/** The use of a key that was never used. */
const noUse: KeyUse = { requests: 0, lastUsedAtMs: null };

/** Stands for a key that does not exist, so that a miss does the same work as a hit. */
const noKey = { mac: new Uint8Array(64), endsAtMs: 0, allowedIps: null };

/** In characters. Longer texts are not keys and are not hashed. */
const valueLengthMax = 100;

/**
 * The keys of the service. The values that work are in memory, where every request is verified. Classes that extend this
 * store the keys: in SQLite, or shared by the nodes of a cluster. A method that changes keys resolves only when the
 * change is durable and in force on every node.
 */
export abstract class Keys {
  /** Whether the keys in memory are known to be current; else no key works. Always true in one process. */
  abstract readonly isVerified: boolean;
  protected readonly clock: Clock;
  readonly #requestsPerMinute: Readonly<Record<Scope, number>>;
  readonly #pepper: string;
  readonly #keyedHash: KeyedHash;
  readonly #listeners: (() => void)[] = [];
  #usages = new Map<string, Usage>();
  #live = new Map<string, LiveValue>();

  constructor(options: KeysOptions) {
    this.clock = options.clock;
    this.#pepper = options.pepper;
    this.#keyedHash = new KeyedHash(options.pepper, valueLengthMax);
    this.#requestsPerMinute = options.requestsPerMinute ?? webLimits.keyRequestsPerMinute;
  }

  /** Lists keys from newest to oldest, including revoked ones. */
  abstract list(page: { limit: number; after: KeyPosition | null }): Promise<readonly ApiKey[]>;
  abstract get(id: string): Promise<ApiKey | null>;
  /** Gives a key a new value; the old one works for another `graceMs`. Throws `NOT_FOUND` unless the key is active. */
  abstract rotate(id: string, graceMs: number): Promise<IssuedKey>;
  /** Revokes a key for good. Throws `NOT_FOUND` for an unknown or revoked id. */
  abstract revoke(id: string): Promise<void>;
  /**
   * Adds a key, and returns `true`; does nothing and returns `false` when its value was issued before. Throws `CONFLICT`
   * as `create`.
   */
  protected abstract insert(record: KeyRecord): Promise<boolean>;

  /** Creates a key. Throws `CONFLICT` when an active key has the name, or when there are too many active keys. */
  async create(input: NewKey): Promise<IssuedKey> {
    const value = generateKey(input.scope);
    const record = this.#toRecord(input, value);
    await this.insert(record);
    return { key: this.show(record), value };
  }

  /**
   * Imports the configured admin key unless it was issued here before. Of several processes, the first imports it.
   * Throws `ConfigError` for another scope.
   */
  async ensureAdminKey(value: string): Promise<AdminKeyImport> {
    const record = this.#toRecord(getAdminKey(value), value);
    if (await this.insert(record)) return { kind: "imported", keyId: record.id };
    return { kind: this.#getEnd(record.mac) > this.clock.nowMs() ? "known" : "dead" };
  }

  /** Returns a 32-byte secret for another purpose. It is the same after every start and on every node. */
  deriveSecret(purpose: string): Buffer {
    return createHmac("sha256", this.#pepper).update(`oddwire ${purpose}`).digest();
  }

  protected getMac(value: string): string {
    return this.#keyedHash.hmac(value);
  }

  #toRecord(input: NewKey, value: string): KeyRecord {
    return {
      ...input,
      id: randomUUID(),
      prefix: getPrefix(value),
      mac: this.getMac(value),
      previousMac: null,
      previousUntilMs: null,
      createdAtMs: this.clock.nowMs(),
      revokedAtMs: null,
    };
  }

  /**
   * Gives a key a new value, which is not stored. A value in the grace period of an earlier rotation ends: at most two
   * work at a time. Throws `NOT_FOUND` unless the key is active.
   */
  protected rotated(
    existing: KeyRecord | undefined,
    graceMs: number,
  ): { readonly record: KeyRecord; readonly value: string } {
    const nowMs = this.clock.nowMs();
    if (existing === undefined || !isActive(existing, nowMs)) throw noActiveKey();
    const value = generateKey(existing.scope);
    const record = {
      ...existing,
      prefix: getPrefix(value),
      mac: this.getMac(value),
      previousMac: graceMs > 0 ? existing.mac : null,
      previousUntilMs: graceMs > 0 ? nowMs + graceMs : null,
    };
    return { record, value };
  }

  /** Returns the live key of a value and counts its use; `null` for any invalid value, after the same work. */
  verify(value: string | undefined, ip: string): VerifiedKey | null {
    const nowMs = this.clock.nowMs();
    const key = this.#find(value, ip, nowMs);
    if (key === null) return null;
    key.usage.requests += 1;
    key.usage.lastUsedAtMs = nowMs;
    return key;
  }

  /** Whether a verified value still works; for sockets, which outlive one request. */
  isLive({ fingerprint }: VerifiedKey): boolean {
    return this.#getEnd(fingerprint) > this.clock.nowMs();
  }

  /** Calls `listener` when values may have stopped working, before the change is acknowledged. Check `isLive` then. */
  onEnded(listener: () => void): void {
    this.#listeners.push(listener);
  }

  protected notify(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Removes all values: no key works until `replace`. */
  protected clear(): void {
    this.#live = new Map();
  }

  /** Makes the values of these keys the only ones that work. */
  protected replace(records: Iterable<KeyRecord>): void {
    this.#live = new Map();
    this.#usages = new Map([...this.#usages].filter(([, usage]) => usage.requests > 0));
    for (const record of records) {
      for (const value of this.#getValues(record)) this.#live.set(value.fingerprint, value);
    }
    this.notify();
  }

  /** Returns the public form of a record, with its saved and unsaved use added up. */
  protected show(record: KeyRecord, saved: KeyUse = noUse): ApiKey {
    const { mac: _mac, previousMac, previousUntilMs, ...fields } = record;
    const unsaved = this.#usages.get(record.id) ?? noUse;
    const isInGrace = previousMac !== null && record.revokedAtMs === null;
    const graceUntilMs = isInGrace ? (previousUntilMs ?? 0) : 0;
    const untilMs = Math.min(graceUntilMs, getEnd(record));
    return {
      ...fields,
      previousUntilMs: untilMs > this.clock.nowMs() ? untilMs : null,
      requestsPerMinute: this.#requestsPerMinute[record.scope],
      lastUsedAtMs: unsaved.requests > 0 ? unsaved.lastUsedAtMs : saved.lastUsedAtMs,
      requestCount: saved.requests + unsaved.requests,
    };
  }

  /** Returns the use of each key since the last `saved`. */
  protected unsavedUses(): readonly (readonly [string, Readonly<Usage>])[] {
    return [...this.#usages]
      .filter(([, usage]) => usage.requests > 0)
      .map(([id, usage]) => [id, { ...usage }]);
  }

  /** Subtracts use that `unsavedUses` returned and that has been written. */
  protected saved(uses: readonly (readonly [string, Readonly<Usage>])[]): void {
    for (const [id, { requests }] of uses) {
      const usage = this.#usages.get(id);
      if (usage !== undefined) usage.requests -= requests;
    }
  }

  /** Returns when the value with this MAC stops working; 0 if it does not work. */
  #getEnd(mac: string): number {
    return this.#live.get(mac)?.endsAtMs ?? 0;
  }

  /** Does the same work for every value that does not work, so that timing does not reveal why. */
  #find(value: string | undefined, ip: string, nowMs: number): LiveValue | null {
    const text = value !== undefined && value.length <= valueLengthMax ? value : "";
    const fingerprint = this.getMac(text);
    const found = this.#live.get(fingerprint);
    const { mac, endsAtMs, allowedIps } = found ?? noKey;
    const isSame = timingSafeEqual(Buffer.from(fingerprint, "latin1"), mac);
    const isUsable = (allowedIps?.contains(ip) ?? true) && nowMs < endsAtMs;
    return found !== undefined && isSame && isUsable ? found : null;
  }

  #getValues(record: KeyRecord): LiveValue[] {
    const { id, scope, previousMac } = record;
    if (record.revokedAtMs !== null) return [];
    const usage = this.#usages.get(id) ?? { requests: 0, lastUsedAtMs: 0 };
    this.#usages.set(id, usage);
    const allowedIps = record.allowedIps.length === 0 ? null : new IpRanges(record.allowedIps);
    const toLive = (mac: string, untilMs: number): LiveValue => ({
      id,
      scope,
      requestsPerMinute: this.#requestsPerMinute[scope],
      mac: Buffer.from(mac, "latin1"),
      allowedIps,
      usage,
      fingerprint: mac,
      endsAtMs: Math.min(getEnd(record), untilMs),
    });
    const current = toLive(record.mac, Number.POSITIVE_INFINITY);
    if (previousMac === null) return [current];
    return [current, toLive(previousMac, record.previousUntilMs ?? 0)];
  }
}

/** Returns when no value of a key works any more, in its grace period neither. */
function getEnd({ expiresAtMs }: KeyRecord): number {
  return expiresAtMs ?? Number.POSITIVE_INFINITY;
}
