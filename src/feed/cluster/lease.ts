import { randomUUID } from "node:crypto";
import { LuaScript } from "../../access/cluster/lua-script.ts";
import { feedLimits } from "../../base/config/cluster-limits.ts";
import type { RedisConnection } from "../../base/redis.ts";
import { systemClock as clock } from "../../base/time/clock.ts";

/** KEYS: lease. ARGV: owner, milliseconds. Takes or renews the lease if it is free or ours. Returns 1 if it is ours. */
const takeScript = new LuaScript(`
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`);

/**
 * The lease of the active indexer. It only avoids double work. If two indexers are active, everything is still stored
 * once, and only the newest term appends to the feed. So an indexer keeps its lease while Redis is unavailable.
 */
export class Lease {
  readonly #redis: RedisConnection;
  readonly #key: string;
  readonly #owner = randomUUID();
  readonly #closing = new AbortController();
  #renewing: Promise<void> = Promise.resolve();
  #isRefused = false;

  constructor(redis: RedisConnection, chainId: number) {
    this.#redis = redis;
    this.#key = `oddwire:{${chainId}}:lease`;
  }

  /** Whether the last attempt to take or renew it failed, for example because Redis is a replica. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** Resolves to `true` once the lease is ours, `false` if closed before. Calls `onLost` once if another takes it. */
  async take(onLost: () => void): Promise<boolean> {
    while (!(await this.isOurs())) {
      if (!(await this.#pause())) return false;
    }
    this.#renewing = this.#renew(onLost);
    return !this.#closing.signal.aborted;
  }

  /** Takes the lease if it is free and returns whether it is ours; `false` without Redis. */
  async isOurs(): Promise<boolean> {
    return (await this.#takeFor(feedLimits.leaseMs)) === 1;
  }

  /** Frees the lease: if it is ours, it ends after a millisecond. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#renewing;
    await this.#takeFor(1);
  }

  async #renew(onLost: () => void): Promise<void> {
    while (await this.#pause()) {
      if ((await this.#takeFor(feedLimits.leaseMs)) === 0) return onLost();
    }
  }

  /** Returns `null` when Redis does not answer. */
  async #takeFor(ms: number): Promise<number | null> {
    const parameters = { keys: [this.#key], values: [this.#owner, ms] };
    try {
      const answer = Number(await takeScript.run(this.#redis, parameters));
      this.#isRefused = false;
      return answer;
    } catch {
      this.#isRefused = true;
      return null;
    }
  }

  /** Waits until the next renewal. Returns `false` once the lease is closed. */
  async #pause(): Promise<boolean> {
    const { signal } = this.#closing;
    await clock.sleep(feedLimits.leaseRenewMs, signal).catch(() => {});
    return !signal.aborted;
  }
}
