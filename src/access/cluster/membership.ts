import { randomUUID } from "node:crypto";
import { accessLimits } from "../../base/config/limits.ts";
import { AppError } from "../../base/errors.ts";
import { LuaScript } from "../../base/redis/lua-script.ts";
import type { RedisConnection } from "../../base/redis/redis-connection.ts";
import type { RedisNames } from "../../base/redis/redis-names.ts";
import type { Clock } from "../../base/time/clock.ts";

/** The state of the cluster, as Redis reports it. */
export type ClusterSnapshot = {
  /** Identifies the contents of Redis. It changes when Redis has lost contents. */
  readonly epoch: string;
  /** Milliseconds since the epoch began. */
  readonly ageMs: number;
  /** Whether no node has reported an earlier epoch, so that no earlier requests can be missing from Redis. */
  readonly isFresh: boolean;
  /** The newest version of the keys that was announced before this request. */
  readonly announcedVersion: number;
  /** The clock of Redis, in Unix milliseconds. */
  readonly timeMs: number;
  /** The version that each live node has applied, by its id. */
  readonly nodes: ReadonlyMap<string, number>;
};

/**
 * Announces a version of the keys, registers a node for `valid_ms`, and returns the cluster snapshot. Starts an epoch
 * if there is none, and a new one if the node knows another: Redis has then lost requests that the node admitted.
 * Deletes what no node can have written, in any of its keys: nothing else would, and no command works on another type.
 */
const renewScript = new LuaScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local id, applied, valid_ms, new_epoch, known_epoch = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]
local far = now + 86400000
for at, kind in pairs({[1] = 'hash', [2] = 'hash', [4] = 'stream', [5] = 'hash', [6] = 'hash'}) do
  if redis.call('TYPE', KEYS[at]).ok ~= kind then redis.call('DEL', KEYS[at]) end
end
local newest = redis.call('XREVRANGE', KEYS[4], '+', '-', 'COUNT', 1)[1]
if newest and tonumber(string.match(newest[1], '^%d+')) > far then redis.call('DEL', KEYS[4]) end
local state = redis.call('HMGET', KEYS[1], 'epoch', 'fresh', 'version', 'since')
local function is_count(text, max) return text and string.match(text, '^%d+$') and tonumber(text) <= max end
local is_version = not state[3] or is_count(state[3], tonumber(ARGV[6]))
if not (is_version and is_count(state[2], 1) and is_count(state[4], far)) then
  redis.call('DEL', KEYS[1])
  state = {}
end
local epoch, fresh = state[1], state[2]
if not epoch or (known_epoch ~= '' and known_epoch ~= epoch and fresh == '1') then
  epoch = new_epoch
  fresh = known_epoch == '' and '1' or '0'
  redis.call('HSET', KEYS[1], 'epoch', epoch, 'fresh', fresh, 'since', now)
end
local before = tonumber(state[3] or '0')
if tonumber(applied) > before then
  redis.call('HSET', KEYS[1], 'version', applied)
  redis.call('PUBLISH', KEYS[3], 'version')
end
if id ~= '' then redis.call('HSET', KEYS[2], id, string.format('%d %s', now + valid_ms, applied)) end
local since = redis.call('HGET', KEYS[1], 'since')
local answer = {epoch, math.max(0, now - since), tonumber(fresh), before, now}
local nodes = redis.call('HGETALL', KEYS[2])
for i = 1, #nodes, 2 do
  local valid_until, version = string.match(nodes[i + 1], '^(%d+) (%d+)$')
  if valid_until and tonumber(valid_until) > now and tonumber(valid_until) < far and #version < 16 then
    answer[#answer + 1] = nodes[i]
    answer[#answer + 1] = tonumber(version)
  else
    redis.call('HDEL', KEYS[2], nodes[i])
  end
end
return answer`);

/** The connection, names and clock for state that is shared through Redis. */
export type RedisParts = {
  readonly redis: RedisConnection;
  readonly names: RedisNames;
  readonly clock: Clock;
};

type MembershipParts = RedisParts & {
  /** Whether this process serves requests, so that other nodes wait for it. */
  readonly isNode: boolean;
};

/** The live nodes of the cluster, and the version of the keys that each has applied. */
export class Membership {
  readonly id = randomUUID();
  readonly #parts: MembershipParts;
  #epoch: string | null = null;

  constructor(parts: MembershipParts) {
    this.#parts = parts;
  }

  /** Registers this node with its applied version, and announces that. Throws `SERVICE_UNAVAILABLE` without Redis. */
  async renew(version: number): Promise<ClusterSnapshot> {
    const { state, nodes, channel, blocks, keyUses, keyLastUses } = this.#parts.names;
    const { validityMs, keyChangesMax } = accessLimits;
    const id = this.#parts.isNode ? this.id : "";
    const answer = await renewScript.run(this.#parts.redis, {
      keys: [state, nodes, channel, blocks, keyUses, keyLastUses],
      values: [id, version, validityMs, randomUUID(), this.#epoch ?? "", keyChangesMax],
    });
    const snapshot = parseSnapshot(answer);
    this.#epoch = snapshot.epoch;
    return snapshot;
  }

  /** Resolves when every node registered in Redis has applied `version`, or after `confirmWaitMs`; for new keys. */
  async awaitApplied(version: number): Promise<void> {
    await this.#until(version, ({ nodes }) =>
      nodes.values().every((applied) => applied >= version),
    );
  }

  /**
   * Resolves when no node can act on keys older than `version`: each has applied it, or its validity has ended. Always
   * waits `confirmWaitMs`, because a node that reaches ClickHouse but not Redis is not registered. Throws
   * `SERVICE_UNAVAILABLE` when that cannot be established within `confirmTimeoutMs`.
   */
  async confirm(version: number): Promise<void> {
    await this.#until(version, () => false);
  }

  async #until(version: number, isDone: (snapshot: ClusterSnapshot) => boolean): Promise<void> {
    const { confirmWaitMs, confirmPollMs, confirmTimeoutMs } = accessLimits;
    const { redis, clock } = this.#parts;
    const startedAtMs = clock.monotonicMs();
    let announcedAtMs = startedAtMs;
    let { downSeconds } = redis;
    for (;;) {
      const snapshot = await this.renew(version).catch(() => null);
      const nowMs = clock.monotonicMs();
      // Until Redis has the version, nodes can extend the validity of older keys. So the wait starts when Redis has it,
      // and again after each interruption: Redis may since be another server, or have older contents.
      if (snapshot !== null) {
        const isInterrupted = redis.downSeconds !== downSeconds;
        if (isInterrupted || snapshot.announcedVersion < version) announcedAtMs = nowMs;
        ({ downSeconds } = redis);
        if (isDone(snapshot)) return;
      }
      if (nowMs - announcedAtMs >= confirmWaitMs) return;
      if (nowMs - startedAtMs >= confirmTimeoutMs) throw unconfirmed();
      await clock.sleep(confirmPollMs, new AbortController().signal);
    }
  }

  /** Deregisters this node, so that others no longer wait for it. */
  async leave(): Promise<void> {
    if (!this.#parts.isNode) return;
    await this.#parts.redis
      .run((client) => client.hDel(this.#parts.names.nodes, this.id))
      .catch(() => 0);
  }
}

function unconfirmed(): AppError {
  const publicMessage = "The change is recorded, but not every node has confirmed it";
  return new AppError("SERVICE_UNAVAILABLE", { publicMessage, retryAfterSeconds: 5 });
}

/** Throws an error for anything that the script does not return. */
function parseSnapshot(answer: unknown): ClusterSnapshot {
  if (!Array.isArray(answer)) throw unreadable();
  const [epoch, ageMs, fresh, announcedVersion, timeMs, ...rest] = answer as unknown[];
  const nodes = new Map<string, number>();
  for (let at = 0; at < rest.length; at += 2) nodes.set(String(rest[at]), getCount(rest[at + 1]));
  if (typeof epoch !== "string" || nodes.size > accessLimits.nodesMax) throw unreadable();
  return {
    epoch,
    ageMs: getCount(ageMs),
    isFresh: getCount(fresh) === 1,
    announcedVersion: getCount(announcedVersion),
    timeMs: getCount(timeMs),
    nodes,
  };
}

function getCount(value: unknown): number {
  if (Number.isSafeInteger(value) && Number(value) >= 0) return Number(value);
  throw unreadable();
}

function unreadable(): AppError {
  const cause = new Error("Redis holds something else than the state of a cluster");
  return new AppError("SERVICE_UNAVAILABLE", { cause, retryAfterSeconds: 1 });
}
