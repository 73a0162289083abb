import { randomUUID } from "node:crypto";
import { feedLimits } from "../../base/config/cluster-limits.ts";
import { LuaScript } from "../../base/redis/lua-script.ts";
import type { RedisConnection } from "../../base/redis/redis-connection.ts";
import type { RedisNames } from "../../base/redis/redis-names.ts";
import { systemClock as clock } from "../../base/time/clock.ts";
import type { Fitness } from "./fitness.ts";

/**
 * KEYS: lease. ARGV: owner, milliseconds, ' unfit' if the owner is, 1 if it may replace an unfit one, and the longest
 * time of a lease. Takes or renews the lease if it is free or ours. A value that no indexer wrote counts as free: it
 * would never end. Returns 1 if the lease is ours, else 0 or, if its owner is unfit, 2.
 */
const takeScript = new LuaScript(`
local left = redis.call('PTTL', KEYS[1])
local is_lease = redis.call('TYPE', KEYS[1]).ok == 'string' and left > 0 and left <= tonumber(ARGV[5])
local held = is_lease and redis.call('GET', KEYS[1])
if held and string.sub(held, 1, #ARGV[1]) ~= ARGV[1] then
  local is_unfit = string.sub(held, -6) == ' unfit'
  if not is_unfit then return 0 end
  if ARGV[4] ~= '1' then return 2 end
end
redis.call('SET', KEYS[1], ARGV[1] .. ARGV[3], 'PX', ARGV[2])
return 1`);

type LeaseParts = {
  readonly redis: RedisConnection;
  readonly names: RedisNames;
  readonly fitness: Pick<Fitness, "isFit" | "canReplace">;
};

/**
 * The lease of the active indexer. It only avoids double work. If two indexers are active, everything is still stored
 * once, and only the newest term appends to the feed. So an indexer keeps its lease while Redis is unavailable, and an
 * unfit one until a fit one takes it.
 */
export class Lease {
  readonly #parts: LeaseParts;
  readonly #owner = randomUUID();
  readonly #closing = new AbortController();
  #renewing: Promise<void> = Promise.resolve();
  #isRefused = false;
  #isOtherUnfit = false;

  constructor(parts: LeaseParts) {
    this.#parts = parts;
  }

  /** Whether the last attempt to take or renew it failed, for example because Redis is a replica. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** Resolves to `true` once the lease is ours, `false` if closed before. Calls `onLost` once if another takes it. */
  async take(onLost: () => void): Promise<boolean> {
    while (!(await this.tryAcquire())) {
      if (!(await this.#pause())) return false;
    }
    this.#renewing = this.#renew(onLost);
    return !this.#closing.signal.aborted;
  }

  /** Takes the lease if it is free and returns whether it is ours; `false` without Redis. */
  async tryAcquire(): Promise<boolean> {
    return (await this.#takeFor(feedLimits.leaseMs)) === "ours";
  }

  /** Frees the lease: if it is ours, it ends after a millisecond. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#renewing;
    await this.#takeFor(1);
  }

  async #renew(onLost: () => void): Promise<void> {
    while (await this.#pause()) {
      if ((await this.#takeFor(feedLimits.leaseMs)) === "taken") return onLost();
    }
  }

  /** Returns `null` when Redis does not answer. */
  async #takeFor(ms: number): Promise<"ours" | "taken" | null> {
    const { redis, names, fitness } = this.#parts;
    const mark = fitness.isFit() ? "" : " unfit";
    const replaces = fitness.canReplace(this.#isOtherUnfit) ? 1 : 0;
    const values = [this.#owner, ms, mark, replaces, feedLimits.leaseMsMax];
    try {
      const answer = Number(await takeScript.run(redis, { keys: [names.lease], values }));
      this.#isRefused = false;
      this.#isOtherUnfit = answer === 2;
      return answer === 1 ? "ours" : "taken";
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
