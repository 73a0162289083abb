import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { webLimits } from "../../base/config/limits.ts";
import { AppError } from "../../base/errors.ts";
import { tryParseJson } from "../../base/json.ts";
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

/** The place before the first change of the log. */
const start = "-";

/** Appending to the log drops its oldest changes, in groups of about 100. */
const trim = {
  strategy: "MAXLEN",
  strategyModifier: "~",
  threshold: webLimits.ipBlocksMax,
} as const;

/**
 * Blocked IPs of a cluster: a log of changes in Redis, which every node reads each second and holds in memory. The log
 * keeps the newest `ipBlocksMax` changes. A block counts as unsaved until it has been read from the log.
 */
export class ClusterIpBlocks implements IpBlocks {
  readonly #parts: RedisParts;
  readonly #blocks = new Map<string, IpBlock>();
  /** The buckets of `#blocks` whose blocks have not been read from the log. */
  readonly #unsaved = new Set<string>();
  /** The id of the last change that was read; `null` before the log was read. */
  #readTo: string | null = null;

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
    this.#append({ bucket: block.bucket, block }).catch(() => undefined);
  }

  /** Throws `SERVICE_UNAVAILABLE` before the log is read: an empty list would be wrong. */
  async list(page: BlockPage): Promise<readonly IpBlock[]> {
    if (this.#readTo === null) {
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
    await this.#append({ bucket, block: null });
    await this.follow();
    return remainingMs(block, this.#parts.clock.nowMs()) > 0;
  }

  /** Applies the changes of the log, and appends the blocks that it lacks. Throws `SERVICE_UNAVAILABLE` without Redis. */
  async follow(): Promise<void> {
    const readTo = this.#readTo ?? start;
    let changes = await this.#readFrom(readTo);
    if (readTo !== start && changes[0]?.id !== readTo) {
      changes = await this.#readFrom(start);
      // A full log has dropped the last change for newer ones. Any other has lost it, as when Redis was emptied.
      if (changes.length < webLimits.ipBlocksMax) this.#keepAll();
    }
    for (const { message } of changes) this.#apply(message);
    this.#readTo = changes.at(-1)?.id ?? start;
    for (const bucket of this.#unsaved) await this.#append({ bucket, block: this.get(bucket) });
  }

  /** Reads the changes from one on, which is included if the log still has it. */
  async #readFrom(id: string) {
    const { redis, keys } = this.#parts;
    return (await redis.run((client) => client.xRange(keys.blocks, id, "+"))) ?? [];
  }

  async #append(change: Change): Promise<void> {
    const { redis, keys } = this.#parts;
    const message = { change: JSON.stringify(change) };
    await redis.run((client) => client.xAdd(keys.blocks, "*", message, { TRIM: trim }));
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
