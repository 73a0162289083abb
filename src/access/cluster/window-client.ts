import { accessLimits } from "../../base/config/limits.ts";
import { LuaScript } from "../../base/redis/lua-script.ts";
import type { LimitStatus } from "../../base/sliding-window.ts";
import type { ClusterSnapshot, RedisParts } from "./membership.ts";

/** A request to Redis. `peek` counts nothing, `acquire` counts an admitted request, `record` counts without a limit. */
export type WindowRequest = {
  readonly kind: "peek" | "acquire" | "record";
  /** The kind of window and the caller. */
  readonly name: string;
  readonly limit: number;
  readonly windowMs: number;
};

/**
 * Sliding windows that are exact on Redis' clock: a list of the times of admitted requests for each caller. A time is
 * never below the newest one in the list. Counts nothing when the epoch is not the one that the node knows. A list that
 * no node can have written is deleted.
 */
const windowScript = new LuaScript(`
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then return {} end
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local answer = {}
for i = 2, #KEYS do
  local key, at = KEYS[i], 3 * i - 4
  local kind, limit, window = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  local now = clock
  local newest = redis.pcall('LINDEX', key, -1)
  local latest = type(newest) == 'string' and tonumber(newest)
  if newest and not (latest and latest <= clock + window) then
    redis.call('DEL', key)
    newest = false
  end
  local oldest = newest and redis.call('LINDEX', key, 0)
  if newest then now = math.max(now, tonumber(newest)) end
  while oldest and not (now - (tonumber(oldest) or 0) < window) do
    redis.call('LPOP', key)
    oldest = redis.call('LINDEX', key, 0)
  end
  local used, admitted = redis.call('LLEN', key), 0
  if kind == 'record' or (kind == 'acquire' and used < limit) then
    redis.call('RPUSH', key, string.format('%d', now))
    redis.call('PEXPIRE', key, window)
    used, admitted, oldest = used + 1, 1, oldest or now
  end
  local n = #answer
  answer[n + 1], answer[n + 2] = admitted, math.max(0, limit - used)
  answer[n + 3], answer[n + 4] = oldest and window - (now - oldest) or 0, now
end
return answer`);

type Waiting = WindowRequest & { readonly resolve: (status: LimitStatus | null) => void };

type WindowClientParts = RedisParts & {
  readonly nodeId: string;
  /** The longest window that must be exact. */
  readonly windowMs: number;
  readonly timeoutMs: number;
};

/**
 * Asks Redis about all requests of one event loop turn together, and tracks whether the answers are exact. They are not
 * while Redis is down, nor after Redis has lost requests, until those have left the window.
 */
export class WindowClient {
  readonly #parts: WindowClientParts;
  #waiting: Waiting[] = [];
  #epoch: string | null = null;
  #isLost = false;
  /** From when Redis has all requests of the window that it was asked about. */
  #exactFromMs = Number.POSITIVE_INFINITY;
  /** From when it also has those that this node admitted alone, while Redis was down. */
  #completeFromMs = 0;
  #nodes: readonly string[] = [];
  #measuredMs: number;
  /** The time until `#measuredMs` during which limits were not exact. */
  #inexactMs = 0;

  constructor(parts: WindowClientParts) {
    this.#parts = parts;
    this.#measuredMs = parts.clock.monotonicMs();
  }

  /** Whether Redis has every request of the trailing window, where nodes admit none without Redis. */
  get isExact(): boolean {
    return this.isConnected && this.#parts.clock.monotonicMs() >= this.#exactFromMs;
  }

  /** Whether Redis has every request of the trailing window, also where this node admits some without Redis. */
  get isComplete(): boolean {
    return this.isExact && this.#parts.clock.monotonicMs() >= this.#completeFromMs;
  }

  /** Whether Redis can be asked. */
  get isConnected(): boolean {
    return !this.#isLost && this.#parts.redis.isUp && this.#epoch !== null;
  }

  /** The number of live nodes when Redis last answered; 0 before its first answer. */
  get liveNodes(): number {
    return this.#nodes.length;
  }

  /** Seconds since the start during which limits were not exact. */
  get inexactSeconds(): number {
    this.#measure();
    return this.#inexactMs / 1000;
  }

  /** Returns this node's share of a limit. All shares add up to it. `null` while this node does not know the nodes. */
  getShare(limit: number): number | null {
    const rank = this.#nodes.indexOf(this.#parts.nodeId);
    if (rank === -1) return null;
    const { length } = this.#nodes;
    return Math.floor(limit / length) + (rank < limit % length ? 1 : 0);
  }

  /** Processes an answer of Redis: its epoch decides from when limits are exact. */
  seen(snapshot: ClusterSnapshot): void {
    this.#measure();
    const nowMs = this.#parts.clock.monotonicMs();
    const { epoch, ageMs, isFresh } = snapshot;
    if (this.#epoch === null) {
      // This node has admitted nothing before.
      this.#exactFromMs = isFresh ? nowMs : nowMs + Math.max(0, this.#parts.windowMs - ageMs);
    } else {
      if (epoch !== this.#epoch) this.#exactFromMs = nowMs + this.#parts.windowMs;
      if (this.#isLost) this.#completeFromMs = nowMs + this.#parts.windowMs;
    }
    this.#epoch = epoch;
    this.#isLost = false;
    this.#nodes = this.#getNodes(snapshot);
  }

  /** Returns the nodes that share limits. Early in an epoch some are not registered yet: those known before count too. */
  #getNodes({ nodes, ageMs, isFresh }: ClusterSnapshot): readonly string[] {
    const registered = [...nodes.keys()];
    if (ageMs >= accessLimits.validityMs) return registered.toSorted();
    if (!isFresh && this.#nodes.length === 0) return [];
    return [...new Set([...this.#nodes, ...registered])].toSorted();
  }

  /** Records that Redis cannot be asked. */
  lost(): void {
    this.#measure();
    this.#isLost = true;
  }

  /** Counts the time since the last call as inexact if limits still are. Called before every change of the answer. */
  #measure(): void {
    const nowMs = this.#parts.clock.monotonicMs();
    if (!this.isComplete) this.#inexactMs += nowMs - this.#measuredMs;
    this.#measuredMs = nowMs;
  }

  /** Returns the answer of Redis; `null` when it does not answer, or its epoch is not the one that this node knows. */
  ask(request: WindowRequest): Promise<LimitStatus | null> {
    const { promise, resolve } = Promise.withResolvers<LimitStatus | null>();
    // Asks about all requests of this turn of the event loop together.
    if (this.#waiting.length === 0) setImmediate(() => this.#sendAll());
    this.#waiting.push({ ...request, resolve });
    return promise;
  }

  /** Forgets all requests of a caller, if Redis can be asked. */
  forget(name: string): void {
    this.#parts.redis.run((client) => client.del(this.#getName(name))).catch(() => this.lost());
  }

  #sendAll(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let at = 0; at < waiting.length; at += accessLimits.windowBatchMax) {
      void this.#send(waiting.slice(at, at + accessLimits.windowBatchMax));
    }
  }

  async #send(batch: readonly Waiting[]): Promise<void> {
    const statuses = await this.#askRedis(batch).catch(() => null);
    if (statuses === null) this.lost();
    for (const [index, { resolve }] of batch.entries()) resolve(statuses?.[index] ?? null);
  }

  async #askRedis(batch: readonly Waiting[]): Promise<readonly LimitStatus[] | null> {
    const { redis, names, timeoutMs } = this.#parts;
    const lists = batch.map(({ name }) => this.#getName(name));
    const values = batch.flatMap(({ kind, limit, windowMs }) => [kind, limit, windowMs]);
    const parameters = { keys: [names.state, ...lists], values: [this.#epoch ?? "", ...values] };
    return parseStatuses(await windowScript.run(redis, parameters, timeoutMs), batch);
  }

  #getName(name: string): string {
    return `${this.#parts.names.window}:${name}`;
  }
}

/** Parses the answer of the script; `null` for another epoch and for anything that the script does not return. */
function parseStatuses(answer: unknown, batch: readonly Waiting[]): readonly LimitStatus[] | null {
  if (!Array.isArray(answer) || answer.length !== 4 * batch.length) return null;
  const numbers = answer as unknown[];
  if (!numbers.every((number) => Number.isSafeInteger(number) && Number(number) >= 0)) return null;
  return batch.map(({ limit }, index) => {
    const [admitted, remaining, resetMs, atMs] = numbers.slice(
      4 * index,
      4 * index + 4,
    ) as number[];
    return {
      isAdmitted: admitted === 1,
      isUnavailable: false,
      limit,
      remaining: remaining ?? 0,
      resetMs: resetMs ?? 0,
      atMs: atMs ?? 0,
    };
  });
}
