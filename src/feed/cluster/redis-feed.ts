import { randomUUID } from "node:crypto";
import { LuaScript } from "../../access/cluster/lua-script.ts";
import { feedLimits, redisLimits } from "../../base/config/cluster-limits.ts";
import type { RedisConnection } from "../../base/redis.ts";
import type {
  ChangeFeed,
  FeedEnd,
  FeedEntry,
  FeedMessage,
  FeedPosition,
  FeedTerm,
} from "./change-feed.ts";
import type { FeedCodec } from "./feed-codec.ts";

/**
 * KEYS: stream, state. ARGV: the epoch of a new feed, the name of the indexer. Begins a term. The state decides which
 * term can append, so a stream without its state is deleted.
 */
const beginScript = new LuaScript(`
if redis.call('EXISTS', KEYS[2]) == 0 then
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[2], 'epoch', ARGV[1], 'term', 0, 'start', '1-0')
end
redis.call('HSET', KEYS[2], 'index', 0, 'node', ARGV[2])
local term = redis.call('HINCRBY', KEYS[2], 'term', 1)
return {redis.call('HGET', KEYS[2], 'epoch'), term}`);

/** KEYS: stream, state. ARGV: epoch, term, index, start or "", messages kept, message. Returns 0 for a stale term. */
const appendScript = new LuaScript(`
local state = redis.call('HMGET', KEYS[2], 'epoch', 'term', 'index')
if state[1] ~= ARGV[1] or state[2] ~= ARGV[2] or state[3] + 1 ~= tonumber(ARGV[3]) then return 0 end
redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[5], ARGV[2] .. '-' .. ARGV[3], 'e', ARGV[1], 'm', ARGV[6])
redis.call('HSET', KEYS[2], 'index', ARGV[3])
if ARGV[4] ~= '' then redis.call('HSET', KEYS[2], 'start', ARGV[4]) end
return 1`);

/** Maps blob strings (type 36 of the Redis protocol) to buffers. */
const asBytes = { 36: Buffer } as const;

/** An entry as `XREAD` returns it. */
type RawEntry = { readonly id: unknown; readonly message: Readonly<Record<string, unknown>> };

type RedisFeedParts = {
  readonly redis: RedisConnection;
  /** A separate connection, because a waiting read blocks all commands behind it. */
  readonly reader: RedisConnection;
  readonly codec: FeedCodec;
  readonly chainId: number;
};

/** The feed as a Redis Stream. Ids are `<term>-<index>`. Two scripts ensure that only the newest term appends. */
export class RedisFeed implements ChangeFeed {
  readonly #parts: RedisFeedParts;
  readonly #keys: readonly [stream: string, state: string];
  /** The index of the last message that this process appended in its term. */
  #index = 0;

  constructor(parts: RedisFeedParts) {
    const { chainId } = parts;
    this.#parts = parts;
    // The braces put both keys into one slot of a Redis Cluster.
    this.#keys = [`oddwire:{${chainId}}:feed`, `oddwire:{${chainId}}:feed-state`];
  }

  async beginTerm(node: string): Promise<FeedTerm> {
    const parameters = { keys: this.#keys, values: [randomUUID(), node] };
    const answer = await beginScript.run(this.#parts.redis, parameters);
    const [epoch, number] = answer as [string, number];
    const term = { epoch, term: number };
    this.#index = 0;
    await this.append(term, { kind: "term", node }, null);
    return term;
  }

  async append(
    term: FeedTerm,
    message: FeedMessage,
    startIndex: number | null,
  ): Promise<FeedPosition> {
    const position = { ...term, index: this.#index + 1 };
    const start = startIndex === null ? "" : idOf({ ...term, index: startIndex });
    const numbers = [term.term, position.index, start, feedLimits.messagesKept];
    const bytes = this.#parts.codec.encode(message, position);
    const parameters = { keys: this.#keys, values: [term.epoch, ...numbers, bytes] };
    const taken = await appendScript.run(this.#parts.redis, parameters);
    if (Number(taken) !== 1)
      throw new Error("the term is stale: another indexer is active, or Redis was emptied");
    this.#index = position.index;
    return position;
  }

  async read(after: FeedPosition, waitMs: number): Promise<readonly FeedEntry[]> {
    const found = await this.#readFrom(idOf(after), waitMs);
    if (found.length > 0 && found.every(({ position }) => position.epoch === after.epoch))
      return found;
    // The ids of an emptied feed start again from 1-1, below `after`.
    const state = await this.end();
    if (state === null || state.newest.epoch === after.epoch) return [];
    return this.#readFrom("0-0", 0);
  }

  async #readFrom(id: string, waitMs: number): Promise<readonly FeedEntry[]> {
    const options = { COUNT: feedLimits.messagesReadMax, ...(waitMs > 0 && { BLOCK: waitMs }) };
    const answer: unknown = await this.#parts.reader.run(
      (client) => client.withTypeMapping(asBytes).xRead({ key: this.#keys[0], id }, options),
      waitMs + redisLimits.commandTimeoutMs,
    );
    if (!Array.isArray(answer)) return [];
    const streams = answer as readonly { readonly messages: readonly RawEntry[] }[];
    return streams
      .flatMap(({ messages }) => messages)
      .flatMap(({ id: at, message: { e: epoch, m: bytes } }) => {
        // Skips entries that are not ours.
        if (!Buffer.isBuffer(bytes)) return [];
        const position = positionOf(String(epoch), String(at));
        return [{ position, message: this.#parts.codec.decode(bytes, position) }];
      });
  }

  async end(): Promise<FeedEnd | null> {
    const fields = ["epoch", "term", "index", "start", "node"];
    const state = await this.#parts.redis.run((client) => client.hmGet(this.#keys[1], fields));
    const [epoch, term, index, start, node = null] = state;
    if (typeof epoch !== "string") return null;
    const newest = { epoch, term: Number(term), index: Number(index) };
    return { newest, start: positionOf(epoch, String(start)), node };
  }
}

function positionOf(epoch: string, id: string): FeedPosition {
  const [term = Number.NaN, index = Number.NaN] = id.split("-").map(Number);
  return { epoch, term, index };
}

function idOf({ term, index }: FeedPosition): string {
  return `${term}-${index}`;
}
