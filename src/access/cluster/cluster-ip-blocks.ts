import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import { webLimits } from "../../base/config/limits.ts";
import { AppError } from "../../base/errors.ts";
import { tryParseJson } from "../../base/json.ts";
import {
  type BlockPage,
  type IpBlock,
  type IpBlocks,
  pageOfBlocks,
  remainingMs,
} from "../ip-blocks.ts";
import { LuaScript } from "./lua-script.ts";
import type { ClusterSnapshot, RedisParts } from "./membership.ts";

const timeMs = Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000 });
const blockSchema = Type.Object({
  bucket: Type.String({ minLength: 2, maxLength: 50 }),
  reason: Type.Enum(["failed_authentication", "abuse"]),
  offenses: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  blockedAtMs: timeMs,
  blockedUntilMs: timeMs,
});
const changeSchema = Type.Object({
  change: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  bucket: Type.String({ maxLength: 50 }),
  /** `null` when the IP was unblocked. */
  block: Type.Union([blockSchema, Type.Null()]),
});

/**
 * Stores a block until `until_ms` and announces it. Deletes up to 100 blocks that are past their own `until_ms`; when
 * none is and there are more than `max`, deletes the one with the lowest `until_ms`.
 */
const putScript = new LuaScript(`
local bucket, block, until_ms, now_ms, max = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
redis.call('HSET', KEYS[2], bucket, block)
redis.call('ZADD', KEYS[3], until_ms, bucket)
local ended = redis.call('ZRANGE', KEYS[3], '-inf', now_ms, 'BYSCORE', 'LIMIT', 0, 100)
if #ended == 0 and redis.call('ZCARD', KEYS[3]) > max then ended = redis.call('ZRANGE', KEYS[3], 0, 0) end
for _, one in ipairs(ended) do
  redis.call('HDEL', KEYS[2], one)
  redis.call('ZREM', KEYS[3], one)
end
local change = redis.call('HINCRBY', KEYS[1], 'blocks', 1)
redis.call('PUBLISH', KEYS[4], '{"change":' .. change .. ',"bucket":"' .. bucket .. '","block":' .. block .. '}')
return change`);

/** Deletes a block, announces that, and returns the block; nothing when there is none. */
const removeScript = new LuaScript(`
local bucket = ARGV[1]
local block = redis.call('HGET', KEYS[2], bucket)
if not block then return false end
redis.call('HDEL', KEYS[2], bucket)
redis.call('ZREM', KEYS[3], bucket)
local change = redis.call('HINCRBY', KEYS[1], 'blocks', 1)
redis.call('PUBLISH', KEYS[4], '{"change":' .. change .. ',"bucket":"' .. bucket .. '","block":null}')
return block`);

/** Blocked IPs in Redis. Every node holds a copy in memory, and applies the changes that others announce. */
export class ClusterIpBlocks implements IpBlocks {
  readonly #parts: RedisParts;
  /** The names that the scripts use. */
  readonly #keys: readonly string[];
  #blocks = new Map<string, IpBlock>();
  /** Blocks that are not in Redis yet. */
  readonly #unsaved = new Map<string, IpBlock>();
  /** The number of the last change applied here; -1 when all blocks have to be read. */
  #changes = -1;
  #epoch: string | null = null;
  /** Whether all blocks were read from Redis at least once. */
  #isLoaded = false;

  constructor(parts: RedisParts) {
    const { state, blocks, blocksByEnd, channel } = parts.keys;
    this.#parts = parts;
    this.#keys = [state, blocks, blocksByEnd, channel];
  }

  get(bucket: string): IpBlock | null {
    return this.#blocks.get(bucket) ?? null;
  }

  put(block: IpBlock): void {
    this.#unsaved.set(block.bucket, block);
    this.#hold(block);
    // If Redis fails, the next `follow` sends the block again.
    this.flush().catch(() => undefined);
  }

  /** Throws `SERVICE_UNAVAILABLE` before the blocks in Redis are read: an empty list would be wrong. */
  async list(page: BlockPage): Promise<readonly IpBlock[]> {
    if (!this.#isLoaded) {
      const publicMessage = "The blocked IP addresses are not known yet: Redis is unavailable";
      throw new AppError("SERVICE_UNAVAILABLE", { publicMessage, retryAfterSeconds: 1 });
    }
    return pageOfBlocks(this.#blocks.values(), page, this.#parts.clock.nowMs());
  }

  /** Removes a block. Other nodes apply that within a second. Throws `SERVICE_UNAVAILABLE` without Redis. */
  async remove(bucket: string): Promise<boolean> {
    const stored = await removeScript.run(this.#parts.redis, {
      keys: this.#keys,
      values: [bucket],
    });
    const block = this.#unsaved.get(bucket) ?? parseBlock(stored);
    this.#forget(bucket);
    return remainingMs(block, this.#parts.clock.nowMs()) > 0;
  }

  /** Applies changes of other nodes that this node has not received. Throws `SERVICE_UNAVAILABLE` without Redis. */
  async follow({ epoch, blockChanges }: ClusterSnapshot): Promise<void> {
    if (this.#epoch !== null && this.#epoch !== epoch) this.#keepAll();
    this.#epoch = epoch;
    await this.flush();
    if (this.#changes !== blockChanges) await this.load(blockChanges);
  }

  /** Applies an announced change. After a missed one, `follow` reads all blocks again. Ignores any other message. */
  receive(message: unknown): void {
    if (!Value.Check(changeSchema, message)) return;
    const { change, bucket, block } = message;
    if (change !== this.#changes + 1) {
      this.#changes = -1;
      return;
    }
    this.#changes = change;
    if (block === null) this.#forget(bucket);
    else this.#hold(block);
  }

  /** Reads all blocks from Redis. Throws `SERVICE_UNAVAILABLE` without Redis. */
  async load(blockChanges: number): Promise<void> {
    const { redis, keys } = this.#parts;
    const stored = await redis.run((client) => client.hGetAll(keys.blocks));
    const blocks = Object.values(stored)
      .map(parseBlock)
      .filter((block) => block !== null)
      .toSorted((one, other) => one.blockedAtMs - other.blockedAtMs)
      .map((block): [string, IpBlock] => [block.bucket, block]);
    this.#blocks = new Map([...blocks, ...this.#unsaved]);
    this.#changes = blockChanges;
    this.#isLoaded = true;
  }

  /** Marks the blocks in force as unsaved, because Redis has lost its contents. */
  #keepAll(): void {
    const nowMs = this.#parts.clock.nowMs();
    for (const block of this.#blocks.values())
      if (block.blockedUntilMs > nowMs) this.#unsaved.set(block.bucket, block);
    this.#changes = -1;
  }

  /** Stores the blocks that Redis does not have yet. Throws `SERVICE_UNAVAILABLE` without Redis. */
  async flush(): Promise<void> {
    const nowMs = this.#parts.clock.nowMs();
    for (const [bucket, block] of this.#unsaved) {
      const endMs = block.blockedUntilMs + webLimits.ipBlockMaxMs;
      const values = [bucket, JSON.stringify(block), endMs, nowMs, webLimits.ipBlocksMax];
      await putScript.run(this.#parts.redis, { keys: this.#keys, values });
      if (this.#unsaved.get(bucket) === block) this.#unsaved.delete(bucket);
    }
  }

  /** Holds a block as the newest one. Forgets the oldest when there are too many: Redis announces none that it deletes. */
  #hold(block: IpBlock): void {
    this.#blocks.delete(block.bucket);
    this.#blocks.set(block.bucket, block);
    const [oldest] = this.#blocks.keys();
    if (this.#blocks.size > webLimits.ipBlocksMax && oldest !== undefined) this.#forget(oldest);
  }

  #forget(bucket: string): void {
    this.#blocks.delete(bucket);
    this.#unsaved.delete(bucket);
  }
}

function parseBlock(text: unknown): Static<typeof blockSchema> | null {
  if (typeof text !== "string") return null;
  const block = tryParseJson(text);
  return Value.Check(blockSchema, block) ? block : null;
}
