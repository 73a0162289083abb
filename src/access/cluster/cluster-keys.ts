import { ConfigError } from "../../base/config/config.ts";
import { accessLimits } from "../../base/config/limits.ts";
import { toError } from "../../base/errors.ts";
import type { Engine } from "../../storage/engine/engine.ts";
import type { ApiKey, IssuedKey, KeyPosition, VerifiedKey } from "../api-key.ts";
import {
  checkKeyCounts,
  type KeyRecord,
  type KeyUse,
  noActiveKey,
  otherPepper,
} from "../key-record.ts";
import { Keys, type KeysOptions } from "../keys.ts";
import type { ClusterClock } from "./cluster-clock.ts";
import { KeyLog, UnreadableLogError } from "./key-log.ts";
import type { ClusterSnapshot, Membership, RedisParts } from "./membership.ts";

type ClusterKeysOptions = KeysOptions &
  RedisParts & {
    readonly clock: ClusterClock;
    readonly engine: Engine;
    readonly membership: Membership;
  };

/**
 * The keys of a cluster: a log in ClickHouse that every node holds in memory. A node uses its copy only while it
 * knows that the copy is current. To have read the log proves this for `validityMs`. Each answer of Redis that no
 * newer version is announced proves it again, if it comes in time. Otherwise no key works here until the log has been
 * read.
 */
export class ClusterKeys extends Keys {
  readonly #options: ClusterKeysOptions;
  readonly #log: KeyLog;
  #validUntilMs = Number.NEGATIVE_INFINITY;
  #readingSinceMs = 0;
  #validity: NodeJS.Timeout | undefined;

  private constructor(options: ClusterKeysOptions) {
    super(options);
    this.#options = options;
    this.#log = new KeyLog(options.engine, {
      applied: () => this.replace(this.#log.fold.records),
      time: (timeMs) => options.clock.measure("ClickHouse", timeMs, this.#readingSinceMs),
    });
  }

  /** Throws `ConfigError` when the keys were made under another pepper, `SERVICE_UNAVAILABLE` without ClickHouse. */
  static async open(options: ClusterKeysOptions): Promise<ClusterKeys> {
    const keys = new ClusterKeys(options);
    await keys.refresh();
    await keys.#checkPepper();
    return keys;
  }

  get isVerified(): boolean {
    return this.clock.monotonicMs() < this.#validUntilMs;
  }

  /** The newest version of the log that this node has applied. */
  get version(): number {
    return this.#log.fold.version;
  }

  /** Returns `null` for every value while `isVerified` is false; the caller then answers 503 rather than 401. */
  override verify(value: string | undefined, ip: string): VerifiedKey | null {
    return this.isVerified ? super.verify(value, ip) : null;
  }

  override isLive(key: VerifiedKey): boolean {
    return this.isVerified && super.isLive(key);
  }

  /** Applies new rows of the log. Throws `SERVICE_UNAVAILABLE` without ClickHouse, and `UnreadableLogError`. */
  async refresh(): Promise<void> {
    const startedAtMs = this.clock.monotonicMs();
    this.#readingSinceMs = startedAtMs;
    try {
      await this.#log.refresh();
    } catch (thrown) {
      if (thrown instanceof UnreadableLogError) {
        this.#validUntilMs = Number.NEGATIVE_INFINITY;
        this.notify();
      }
      throw thrown;
    }
    this.#extendTo(startedAtMs + accessLimits.validityMs);
  }

  /**
   * Applies an answer of Redis to a request at `requestedAtMs`. If no newer version is announced, the answer is as good as
   * reading the log, unless the keys are no longer verified: Redis may have lost a version in the meantime.
   */
  confirmed({ announcedVersion }: ClusterSnapshot, requestedAtMs: number): void {
    if (announcedVersion > this.version || !this.isVerified) return;
    this.#extendTo(requestedAtMs + accessLimits.validityMs);
  }

  async list(page: { limit: number; after: KeyPosition | null }): Promise<readonly ApiKey[]> {
    await this.refresh();
    return this.#show(this.#log.fold.list(page));
  }

  async get(id: string): Promise<ApiKey | null> {
    await this.refresh();
    const record = this.#log.fold.get(id);
    const [key = null] = record === undefined ? [] : await this.#show([record]);
    return key;
  }

  async rotate(id: string, graceMs: number): Promise<IssuedKey> {
    // The grace period begins with the answer, not before the wait for all nodes.
    const keptMs = graceMs > 0 ? graceMs + accessLimits.confirmWaitMs : 0;
    let value = "";
    const { version, change } = await this.#log.append((fold) => {
      const made = this.rotated(fold.get(id), keptMs);
      ({ value } = made);
      return { kind: "stored", record: made.record };
    });
    await this.#options.membership.confirm(version);
    return { key: this.show(change.record), value };
  }

  async revoke(id: string): Promise<void> {
    const { version } = await this.#log.append((fold) => {
      const existing = fold.get(id);
      if (existing === undefined || existing.revokedAtMs !== null) throw noActiveKey();
      return { kind: "stored", record: { ...existing, revokedAtMs: this.clock.nowMs() } };
    });
    await this.#options.membership.confirm(version);
  }

  /**
   * Adds the use of keys since the last flush to the counts in Redis. What Redis refuses is left to the next flush.
   * Throws `SERVICE_UNAVAILABLE` without Redis.
   */
  async flush(): Promise<void> {
    const used = this.unsavedUses();
    if (used.length === 0) return;
    const { keyUses, keyLastUses } = this.#options.names;
    // Before the answers, so that a count that Redis confirms late is not sent twice.
    this.saved(used);
    await this.#options.redis.run(async (client) => {
      const times = used.map(([id, { lastUsedAtMs }]) => [id, String(lastUsedAtMs)]);
      const counted = used.map(async ([id, { requests, lastUsedAtMs }]) => {
        try {
          await client.hIncrBy(keyUses, id, requests);
        } catch (thrown) {
          this.saved([[id, { requests: -requests, lastUsedAtMs }]]);
          // What is there is no count of ours. The next flush counts again.
          if (toError(thrown).message.startsWith("ERR")) await client.hDel(keyUses, id);
          throw thrown;
        }
      });
      await Promise.all([...counted, client.hSet(keyLastUses, Object.fromEntries(times))]);
    });
  }

  close(): void {
    clearTimeout(this.#validity);
  }

  #extendTo(untilMs: number): void {
    if (untilMs <= this.#validUntilMs) return;
    this.#validUntilMs = untilMs;
    this.#watchValidity();
  }

  /** Notifies listeners when the validity ends, so that they close sockets as after a revocation. */
  #watchValidity(): void {
    clearTimeout(this.#validity);
    const remainingMs = Math.max(0, this.#validUntilMs - this.clock.monotonicMs());
    // A timer can fire slightly early. The keys are still valid then, and the timer starts again.
    this.#validity = setTimeout(() => {
      if (this.isVerified) this.#watchValidity();
      else this.notify();
    }, Math.ceil(remainingMs)).unref();
  }

  protected async insert(record: KeyRecord): Promise<boolean> {
    const { version, change } = await this.#log.append((fold) => {
      if (fold.wasIssued(record.mac)) return null;
      checkKeyCounts(fold.countActive(record.name, this.clock.nowMs()));
      return { kind: "stored", record };
    });
    if (change === null) return false;
    await this.#options.membership.awaitApplied(version);
    return true;
  }

  async #show(records: readonly KeyRecord[]): Promise<readonly ApiKey[]> {
    const uses = await this.#readUses(records.map(({ id }) => id));
    return records.map((record, index) => this.show(record, uses[index]));
  }

  /** Reads the use of keys from Redis; empty without Redis, where only this node's unsaved use is known. */
  async #readUses(ids: readonly string[]): Promise<readonly KeyUse[]> {
    if (ids.length === 0) return [];
    const { keyUses, keyLastUses } = this.#options.names;
    try {
      const [requests, times] = await this.#options.redis.run((client) =>
        Promise.all([client.hmGet(keyUses, [...ids]), client.hmGet(keyLastUses, [...ids])]),
      );
      return ids.map((_, index) => ({
        requests: readCount(requests[index]) ?? 0,
        lastUsedAtMs: readCount(times[index]),
      }));
    } catch {
      return [];
    }
  }

  async #checkPepper(): Promise<void> {
    const check = this.getMac("pepper check");
    await this.#log.append((fold) =>
      fold.pepperCheck === null ? { kind: "pepper", check } : null,
    );
    if (this.#log.fold.pepperCheck !== check) throw new ConfigError([otherPepper]);
  }
}

function readCount(text: string | null | undefined): number | null {
  return typeof text === "string" && /^[0-9]{1,15}$/.test(text) ? Number(text) : null;
}
