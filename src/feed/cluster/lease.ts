import { randomUUID } from "node:crypto";
import { feedLimits } from "../../base/config/cluster-limits.ts";
import type { RedisConnection } from "../../base/redis.ts";
import type { Clock } from "../../base/time/clock.ts";

/** KEYS: lease. ARGV: owner, milliseconds. Takes the lease when it is free or ours; 1 when it is ours now. */
const takeScript = `
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

/** Frees the lease when it is ours. */
const freeScript = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`;

/**
 * Who indexes. It only avoids double work: two that believe they do store everything once, and only the newest term
 * appends to the feed. So it is kept while Redis is unavailable.
 */
export class Lease {
  readonly #redis: RedisConnection;
  readonly #key: string;
  readonly #owner = randomUUID();
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  #renewing: Promise<void> = Promise.resolve();

  constructor(parts: {
    readonly redis: RedisConnection;
    readonly chainId: number;
    readonly clock: Clock;
  }) {
    this.#redis = parts.redis;
    this.#clock = parts.clock;
    this.#key = `oddwire:{${parts.chainId}}:lease`;
  }

  /** Resolves once it is ours; `false` when it was closed before. Then calls `onLost` once if another one takes it. */
  async take(onLost: () => void): Promise<boolean> {
    while (!(await this.isOurs())) {
      if (!(await this.#pause())) return false;
    }
    this.#renewing = this.#renew(onLost);
    return !this.#closing.signal.aborted;
  }

  /** Takes it if it is free, and says whether it is ours; not without Redis. */
  async isOurs(): Promise<boolean> {
    return (await this.#eval(takeScript)) === 1;
  }

  /** Gives it up. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#renewing;
    await this.#eval(freeScript);
  }

  async #renew(onLost: () => void): Promise<void> {
    while (await this.#pause()) {
      if ((await this.#eval(takeScript)) === 0) return onLost();
    }
  }

  /** `null` without Redis. */
  async #eval(script: string): Promise<number | null> {
    const options = { keys: [this.#key], arguments: [this.#owner, String(feedLimits.leaseMs)] };
    try {
      return Number(await this.#redis.run((client) => client.eval(script, options)));
    } catch {
      return null;
    }
  }

  /** `false` once it is closed. */
  async #pause(): Promise<boolean> {
    try {
      await this.#clock.sleep(feedLimits.leaseRenewMs, this.#closing.signal);
      return true;
    } catch {
      return false;
    }
  }
}
