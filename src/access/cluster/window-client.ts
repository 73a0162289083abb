import { accessLimits } from "../../base/config/limits.ts";
import type { Standing } from "../rate-window.ts";
import { LuaScript } from "./lua-script.ts";
import type { ClusterView, RedisParts } from "./membership.ts";

/** What is asked of Redis: `look` counts nothing, `record` counts also what is over the limit. */
export type WindowQuestion = {
  readonly kind: "look" | "take" | "record";
  /** Which window of which caller. */
  readonly name: string;
  readonly limit: number;
  readonly windowMs: number;
};

/**
 * Sliding windows, exact on Redis' clock: a list of the times of admitted requests for each caller, made monotonic by
 * never going below the newest one. Nothing is counted when Redis is not the one that the node knows.
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
  local newest = redis.call('LINDEX', key, -1)
  local oldest = newest and redis.call('LINDEX', key, 0)
  if newest then now = math.max(now, tonumber(newest)) end
  while oldest and now - oldest >= window do
    redis.call('LPOP', key)
    oldest = redis.call('LINDEX', key, 0)
  end
  local used, admitted = redis.call('LLEN', key), 0
  if kind == 'record' or (kind == 'take' and used < limit) then
    redis.call('RPUSH', key, string.format('%d', now))
    redis.call('PEXPIRE', key, window)
    used, admitted, oldest = used + 1, 1, oldest or now
  end
  local n = #answer
  answer[n + 1], answer[n + 2] = admitted, math.max(0, limit - used)
  answer[n + 3], answer[n + 4] = oldest and window - (now - oldest) or 0, now
end
return answer`);

type Waiting = WindowQuestion & { readonly resolve: (standing: Standing | null) => void };

type WindowClientParts = RedisParts & {
  readonly nodeId: string;
  /** Of the longest limit that must be exact. */
  readonly windowMs: number;
  readonly timeoutMs: number;
  /** Whether this node counts requests elsewhere while Redis is away. */
  readonly goesOnAlone: boolean;
};

/**
 * Asks Redis about requests, all those of one turn together, and knows whether its answers are exact. They are not
 * while Redis is away, and after it has lost requests until those have left the window.
 */
export class WindowClient {
  readonly #parts: WindowClientParts;
  #waiting: Waiting[] = [];
  #epoch: string | null = null;
  #isLost = false;
  #exactFromMs = Number.POSITIVE_INFINITY;
  #nodes: readonly string[] = [];
  #inexactSinceMs: number | null;
  #inexactMs = 0;

  constructor(parts: WindowClientParts) {
    this.#parts = parts;
    this.#inexactSinceMs = parts.clock.monotonicMs();
  }

  /** Whether Redis has every request of the trailing window. */
  get isExact(): boolean {
    if (this.#isLost || !this.#parts.redis.isUp) return false;
    return this.#parts.clock.monotonicMs() >= this.#exactFromMs;
  }

  /** Whether Redis is there to be asked. */
  get isConnected(): boolean {
    return !this.#isLost && this.#parts.redis.isUp && this.#epoch !== null;
  }

  /** Live nodes when Redis was last there; 0 before it ever was. */
  get liveNodes(): number {
    return this.#nodes.length;
  }

  /** Seconds in which limits were not exact, since this was opened. */
  get inexactSeconds(): number {
    const since = this.#inexactSinceMs;
    const present = since === null ? 0 : this.#parts.clock.monotonicMs() - since;
    return (this.#inexactMs + present) / 1000;
  }

  /** This node's part of a limit: the parts of all nodes add up to it. `null` when it is not known how many there are. */
  shareOf(limit: number): number | null {
    const rank = this.#nodes.indexOf(this.#parts.nodeId);
    if (rank === -1) return null;
    const { length } = this.#nodes;
    return Math.floor(limit / length) + (rank < limit % length ? 1 : 0);
  }

  /** Redis has answered: takes note of which one it is. */
  seen(view: ClusterView): void {
    const nowMs = this.#parts.clock.monotonicMs();
    const { epoch, ageMs, isFresh } = view;
    if (this.#epoch === null) {
      // Nothing was admitted here before.
      this.#exactFromMs = isFresh ? nowMs : nowMs + Math.max(0, this.#parts.windowMs - ageMs);
    } else if (epoch !== this.#epoch) this.#exactFromMs = nowMs + this.#parts.windowMs;
    // What was admitted here meanwhile is not all in Redis.
    else if (this.#isLost && this.#parts.goesOnAlone)
      this.#exactFromMs = nowMs + this.#parts.windowMs;
    this.#epoch = epoch;
    this.#isLost = false;
    this.#nodes = this.#nodesOf(view);
    this.measure();
  }

  /** A Redis that was just emptied does not know all nodes yet: none that was known is left out meanwhile. */
  #nodesOf({ nodes, ageMs, isFresh }: ClusterView): readonly string[] {
    const registered = [...nodes.keys()];
    if (ageMs >= accessLimits.validityMs) return registered.toSorted();
    if (!isFresh && this.#nodes.length === 0) return [];
    return [...new Set([...this.#nodes, ...registered])].toSorted();
  }

  /** Redis cannot be asked. */
  lost(): void {
    this.#isLost = true;
    this.measure();
  }

  /** Notes since when limits are exact or not; to be called often. */
  measure(): void {
    const nowMs = this.#parts.clock.monotonicMs();
    if (this.isExact && this.#inexactSinceMs !== null) {
      this.#inexactMs += nowMs - this.#inexactSinceMs;
      this.#inexactSinceMs = null;
    }
    if (!this.isExact) this.#inexactSinceMs ??= nowMs;
  }

  /** The answer; `null` when Redis has none, or is not the one that this node knows. */
  ask(question: WindowQuestion): Promise<Standing | null> {
    const { promise, resolve } = Promise.withResolvers<Standing | null>();
    // All requests that have come in this turn of the event loop are asked about together.
    if (this.#waiting.length === 0) setImmediate(() => this.#sendAll());
    this.#waiting.push({ ...question, resolve });
    return promise;
  }

  /** Forgets all requests of a caller, as far as Redis is there. */
  forget(name: string): void {
    this.#parts.redis.run((client) => client.del(this.#nameOf(name))).catch(() => this.lost());
  }

  #sendAll(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let at = 0; at < waiting.length; at += accessLimits.windowBatchMax) {
      void this.#send(waiting.slice(at, at + accessLimits.windowBatchMax));
    }
  }

  async #send(batch: readonly Waiting[]): Promise<void> {
    const standings = await this.#askRedis(batch).catch(() => null);
    if (standings === null) this.lost();
    for (const [index, { resolve }] of batch.entries()) resolve(standings?.[index] ?? null);
  }

  async #askRedis(batch: readonly Waiting[]): Promise<readonly Standing[] | null> {
    const names = batch.map(({ name }) => this.#nameOf(name));
    const parameters = batch.flatMap(({ kind, limit, windowMs }) => [kind, limit, windowMs]);
    const answer = await this.#parts.redis.run(
      (client) =>
        windowScript.run(
          client,
          [this.#parts.keys.state, ...names],
          [this.#epoch ?? "", ...parameters],
        ),
      this.#parts.timeoutMs,
    );
    return parseStandings(answer, batch);
  }

  #nameOf(name: string): string {
    return `${this.#parts.keys.window}:${name}`;
  }
}

/** `null` for anything that the script does not return, and when Redis is another one. */
function parseStandings(answer: unknown, batch: readonly Waiting[]): readonly Standing[] | null {
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
