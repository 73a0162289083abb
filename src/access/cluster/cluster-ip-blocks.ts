import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { accessLimits, webLimits } from "../../base/config/limits.ts";
import { AppError } from "../../base/errors.ts";
import { tryParseJson } from "../../base/json.ts";
import { LuaScript } from "../../base/redis/lua-script.ts";
import { nullable } from "../../rows/wire-format.ts";
import {
  type BlockPage,
  type IpBlock,
  type IpBlocks,
  pageOfBlocks,
  remainingMs,
} from "../ip-blocks.ts";
import type { RedisParts } from "./membership.ts";

const timeMs = Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000 });
const blockSchema = Type.Object({
  bucket: Type.String({ minLength: 2, maxLength: 50 }),
  reason: Type.Enum(["failed_authentication", "abuse"]),
  offenses: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  blockedAtMs: timeMs,
  blockedUntilMs: timeMs,
});
const changeSchema = Type.Object({
  bucket: Type.String({ maxLength: 50 }),
  /** `null` when the IP was unblocked. */
  block: nullable(blockSchema),
});
type Change = Static<typeof changeSchema>;
/** Compiled, because a start reads up to `ipBlocksMax` changes. */
const changeChecker = Compile(changeSchema);

const start = "-";

/**
 * KEYS: log. ARGV: the id of the newest change that was read, changes kept, changes. Appends nothing if the log has newer
 * changes: nodes that restore the same blocks would fill it with copies. Drops the oldest changes, in groups of about 100.
 */
const appendScript = new LuaScript(`
local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if newest and ARGV[1] ~= '' and newest[1] ~= ARGV[1] then return end
for i = 3, #ARGV do
  redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], '*', 'change', ARGV[i])
end`);

/**
 * Blocked IPs of a cluster: a log of changes in Redis, which every node reads each second and holds in memory. The log
 * keeps the newest `ipBlocksMax` changes. A block counts as unsaved until it has been read from the log.
 */
export class ClusterIpBlocks implements IpBlocks {
  readonly #parts: RedisParts;
  readonly #blocks = new Map<string, IpBlock>();
  /** The buckets of `#blocks` whose blocks have not been read from the log. */
  readonly #unsaved = new Set<string>();
  #readTo = start;
  #isRead = false;
  #following: Promise<void> = Promise.resolve();

  constructor(parts: RedisParts) {
    this.#parts = parts;
  }

  get(bucket: string): IpBlock | null {
    return this.#blocks.get(bucket) ?? null;
  }

  put(block: IpBlock): void {
    this.#hold(block);
    this.#unsaved.add(block.bucket);
    // If Redis fails, the next `follow` appends the block again.
    this.#append([{ bucket: block.bucket, block }]).catch(() => undefined);
  }

  /** Throws `SERVICE_UNAVAILABLE` before the log is read: an empty list would be wrong. */
  async list(page: BlockPage): Promise<readonly IpBlock[]> {
    if (!this.#isRead) {
      const publicMessage = "The blocked IP addresses are not known yet: Redis is unavailable";
      throw new AppError("SERVICE_UNAVAILABLE", { publicMessage, retryAfterSeconds: 1 });
    }
    return pageOfBlocks(this.#blocks.values(), page, this.#parts.clock.nowMs());
  }

  /** Removes a block. Other nodes apply that within a second. Throws `SERVICE_UNAVAILABLE` without Redis. */
  async remove(bucket: string): Promise<boolean> {
    await this.follow();
    const block = this.get(bucket);
    if (block === null) return false;
    await this.#append([{ bucket, block: null }]);
    await this.follow();
    return remainingMs(block, this.#parts.clock.nowMs()) > 0;
  }

  /**
   * Applies the changes of the log, and appends blocks that it lacks, up to `ipChangesBatchMax`. Calls wait for each
   * other. Throws `SERVICE_UNAVAILABLE` without Redis.
   */
  async follow(): Promise<void> {
    const followed = this.#following.then(() => this.#follow());
    this.#following = followed.catch(() => undefined);
    return followed;
  }

  async #follow(): Promise<void> {
    while (await this.#readNext());
    this.#isRead = true;
    const buckets = this.#unsaved.values().take(accessLimits.ipChangesBatchMax);
    const changes = buckets.map((bucket) => ({ bucket, block: this.get(bucket) })).toArray();
    if (changes.length > 0) await this.#append(changes, this.#readTo);
  }

  /** Applies the next changes of the log. Returns whether there can be more. */
  async #readNext(): Promise<boolean> {
    const { redis, names } = this.#parts;
    const { ipChangesBatchMax: COUNT } = accessLimits;
    // The last change that was read is included, if the log still has it.
    const changes =
      (await redis.run((client) => client.xRange(names.blocks, this.#readTo, "+", { COUNT }))) ??
      [];
    if (this.#readTo !== start && changes[0]?.id !== this.#readTo) {
      const length = await redis.run((client) => client.xLen(names.blocks));
      // A full log has dropped the last change for newer ones. Any other has lost it, as when Redis was emptied.
      if (length < webLimits.ipBlocksMax) this.#keepAll();
      this.#readTo = start;
      return true;
    }
    for (const { message } of changes) this.#apply(message);
    this.#readTo = changes.at(-1)?.id ?? start;
    return changes.length === COUNT;
  }

  /** Appends changes. With `after`, only if that is the id of the newest change. */
  async #append(changes: readonly Change[], after = ""): Promise<void> {
    const { redis, names } = this.#parts;
    const texts = changes.map((change) => JSON.stringify(change));
    const values = [after, webLimits.ipBlocksMax, ...texts];
    await appendScript.run(redis, { keys: [names.blocks], values });
  }

  /** Applies a change of the log. Ignores one that cannot be read, or that is older than an unsaved block. */
  #apply({ change: text }: Readonly<Record<string, unknown>>): void {
    const change = tryParseJson(String(text));
    if (!changeChecker.Check(change)) return;
    const { bucket, block } = change;
    const unsavedMs = this.#unsaved.has(bucket) ? (this.get(bucket)?.blockedAtMs ?? 0) : 0;
    if ((block?.blockedAtMs ?? 0) < unsavedMs) return;
    if (block === null) this.#forget(bucket);
    else this.#hold(block);
    this.#unsaved.delete(bucket);
  }

  /** Marks the blocks in force as unsaved. */
  #keepAll(): void {
    const nowMs = this.#parts.clock.nowMs();
    for (const block of this.#blocks.values())
      if (remainingMs(block, nowMs) > 0) this.#unsaved.add(block.bucket);
  }

  /** Holds a block as the newest one. Forgets the oldest when there are too many, as the log does. */
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
