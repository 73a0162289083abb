import { randomUUID } from "node:crypto";
import { feedLimits, redisLimits } from "../../base/config/cluster-limits.ts";
import { LuaScript } from "../../base/redis/lua-script.ts";
import type { RedisConnection } from "../../base/redis/redis-connection.ts";
import type { RedisNames } from "../../base/redis/redis-names.ts";
import type {
  ActiveIndexer,
  ChangeFeed,
  FeedEntry,
  FeedHead,
  FeedMessage,
  FeedPosition,
  FeedTerm,
  LinkedBlock,
} from "./change-feed.ts";
import type { FeedCodec } from "./feed-codec.ts";

/**
 * KEYS: stream, state. ARGV: the epoch of a new feed, the name of the indexer. Begins a term. The state decides which
 * term can append. A stream that has had messages of this term or later ones is deleted: it has lost its state, or the
 * messages are foreign. So is anything that no indexer can have written.
 */
const beginScript = new LuaScript(`
if redis.call('TYPE', KEYS[2]).ok ~= 'hash' then redis.call('DEL', KEYS[2]) end
local state = redis.call('HMGET', KEYS[2], 'epoch', 'term')
if not state[1] or not state[2] or not string.match(state[2], '^%d+$') or #state[2] > 15 then
  redis.call('DEL', KEYS[2])
  redis.call('HSET', KEYS[2], 'epoch', ARGV[1], 'term', 0)
end
redis.call('HSET', KEYS[2], 'index', 0, 'node', ARGV[2])
local term = redis.call('HINCRBY', KEYS[2], 'term', 1)
local newest = term
if redis.call('TYPE', KEYS[1]).ok == 'stream' then
  local info = redis.call('XINFO', 'STREAM', KEYS[1])
  for i = 1, #info, 2 do
    if info[i] == 'last-generated-id' then newest = tonumber(string.match(info[i + 1], '^%d+')) end
  end
end
if newest >= term then redis.call('DEL', KEYS[1]) end
return {redis.call('HGET', KEYS[2], 'epoch'), term}`);

/**
 * KEYS: stream, state. ARGV: epoch, term, index, messages kept, message, its kind, and the blocks that it removes from
 * the state: from one on, and through one. Returns 0 for a stale term. A field of the state is a block: its number, then
 * the id of its message and the message.
 */
const appendScript = new LuaScript(`
local state = redis.call('HMGET', KEYS[2], 'epoch', 'term', 'index')
if state[1] ~= ARGV[1] or state[2] ~= ARGV[2] or state[3] + 1 ~= tonumber(ARGV[3]) then return 0 end
local id = ARGV[2] .. '-' .. ARGV[3]
redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[4], id, 'e', ARGV[1], 'm', ARGV[5])
redis.call('HSET', KEYS[2], 'index', ARGV[3])
if ARGV[6] == 'status' then redis.call('HSET', KEYS[2], 'whole', 1) return 1 end
for _, field in ipairs(redis.call('HKEYS', KEYS[2])) do
  local number = tonumber(field)
  if number and (number >= tonumber(ARGV[7]) or number <= tonumber(ARGV[8])) then
    redis.call('HDEL', KEYS[2], field)
  end
end
if ARGV[6] == 'block' then redis.call('HSET', KEYS[2], ARGV[7], id .. ' ' .. ARGV[5]) end
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
  readonly names: RedisNames;
};

/** The feed as a Redis Stream. Ids are `<term>-<index>`. Two scripts ensure that only the newest term appends. */
export class RedisFeed implements ChangeFeed {
  readonly #parts: RedisFeedParts;
  readonly #keys: readonly [stream: string, state: string];
  /** The index of the last message that this process appended in its term. */
  #index = 0;

  constructor(parts: RedisFeedParts) {
    this.#parts = parts;
    this.#keys = [parts.names.feed, parts.names.feedState];
  }

  async beginTerm(node: string): Promise<FeedTerm> {
    const parameters = { keys: this.#keys, values: [randomUUID(), node] };
    const answer = await beginScript.run(this.#parts.redis, parameters);
    const [epoch, number] = answer as [string, number];
    this.#index = 0;
    return { epoch, term: number };
  }

  async append(term: FeedTerm, message: FeedMessage): Promise<FeedPosition> {
    const position = { ...term, index: this.#index + 1 };
    const numbers = [term.term, position.index, feedLimits.messagesMax];
    const bytes = this.#parts.codec.encode(message, position);
    const { from, through } = removedBy(message);
    const values = [term.epoch, ...numbers, bytes, message.kind, from, through];
    const parameters = { keys: this.#keys, values };
    const taken = await appendScript.run(this.#parts.redis, parameters);
    if (Number(taken) !== 1)
      throw new Error("the term is stale: another indexer is active, or Redis was emptied");
    this.#index = position.index;
    return position;
  }

  async read(after: FeedPosition, waitMs: number): Promise<readonly FeedEntry[]> {
    const options = { COUNT: feedLimits.messagesReadMax, ...(waitMs > 0 && { BLOCK: waitMs }) };
    const stream = { key: this.#keys[0], id: `${after.term}-${after.index}` };
    const answer: unknown = await this.#parts.reader.run(
      (client) => client.withTypeMapping(asBytes).xRead(stream, options),
      waitMs + redisLimits.commandTimeoutMs,
    );
    if (!Array.isArray(answer)) return [];
    const streams = answer as readonly { readonly messages: readonly RawEntry[] }[];
    return streams
      .flatMap(({ messages }) => messages)
      .flatMap(({ id: at, message: { e: epoch, m: bytes } }) => {
        // Skips entries that are not ours.
        if (!Buffer.isBuffer(bytes)) return [];
        const position = toPosition(String(epoch), String(at));
        return [{ position, message: this.#parts.codec.decode(bytes, position) }];
      });
  }

  async active(): Promise<ActiveIndexer | null> {
    const fields = ["node", "term"];
    const state = await this.#parts.redis.run((client) => client.hmGet(this.#keys[1], fields));
    const [node, term] = state;
    return typeof node === "string" ? { node, term: Number(term) } : null;
  }

  async head(): Promise<FeedHead | null> {
    const state: Readonly<Record<string, Buffer>> = await this.#parts.redis.run((client) =>
      client.withTypeMapping(asBytes).hGetAll(this.#keys[1]),
    );
    const { epoch, term, index, whole, ...others } = state;
    if (epoch === undefined) return null;
    const newest = { epoch: String(epoch), term: Number(term), index: Number(index) };
    // The same names as in the script, which removes them in time whatever their values are.
    const fields = Object.entries(others).filter(([name]) => /^\d+$/.test(name));
    const blocks = fields
      .map(([, value]) => this.#toBlock(newest.epoch, value))
      .filter((block) => block !== null)
      .toSorted((one, other) => one.block.number - other.block.number);
    return { newest, blocks, isWhole: whole !== undefined && blocks.length === fields.length };
  }

  #toBlock(epoch: string, field: Buffer): LinkedBlock | null {
    const at = field.indexOf(" ");
    const position = toPosition(epoch, field.toString("latin1", 0, at));
    const message = this.#parts.codec.decode(field.subarray(at + 1), position);
    return message?.kind === "block" ? message : null;
  }
}

/** Returns which unfinalized blocks end with a message: those from one number on, and those through another. */
function removedBy(message: FeedMessage): { readonly from: number; readonly through: number } {
  const none = { from: Number.MAX_SAFE_INTEGER, through: -1 };
  switch (message.kind) {
    case "block":
      return { ...none, from: message.block.number };
    case "revert":
      return { ...none, from: message.safeBlock + 1 };
    case "committed":
      return { ...none, through: message.last.number };
    case "status":
      return none;
  }
}

function toPosition(epoch: string, id: string): FeedPosition {
  const [term = Number.NaN, index = Number.NaN] = id.split("-").map(Number);
  return { epoch, term, index };
}
