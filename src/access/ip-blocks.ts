import { webLimits } from "../base/config/limits.ts";
import type { Clock } from "../base/time/clock.ts";
import type { AccessDatabase } from "./access-database.ts";

/** One block, in force or ended; ended ones are remembered, as the next one is then longer. */
export type IpBlock = {
  /** An IPv4 address or an IPv6 /64, as `ipBucketOf` names it. */
  readonly bucket: string;
  readonly reason: "failed_authentication" | "abuse";
  /** How many blocks in a row this is. */
  readonly offences: number;
  readonly blockedAtMs: number;
  readonly blockedUntilMs: number;
};

/** A place in the list of blocks, which runs from the newest to the oldest. */
export type BlockPosition = Pick<IpBlock, "blockedAtMs" | "bucket">;

type Row = {
  bucket: string;
  reason: IpBlock["reason"];
  offences: number;
  blocked_at_ms: number;
  blocked_until_ms: number;
};

/**
 * Blocked IPs: in memory at the same time, on the disk with the next flush, because an attacker with many
 * addresses must not cost a disk write each. At most `ipBlocksMax`; beyond, the oldest goes.
 */
export class IpBlocks {
  readonly #database: AccessDatabase;
  readonly #clock: Clock;
  readonly #unsaved = new Set<string>();
  #blocks = new Map<string, IpBlock>();
  #version = -1;

  private constructor(database: AccessDatabase, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  static open(options: { database: AccessDatabase; clock: Clock }): IpBlocks {
    const blocks = new IpBlocks(options.database, options.clock);
    blocks.refresh();
    return blocks;
  }

  get(bucket: string): IpBlock | null {
    return this.#blocks.get(bucket) ?? null;
  }

  put(block: IpBlock): void {
    this.#blocks.delete(block.bucket);
    this.#blocks.set(block.bucket, block);
    this.#unsaved.add(block.bucket);
    const [oldest] = this.#blocks.keys();
    if (this.#blocks.size > webLimits.ipBlocksMax && oldest !== undefined) this.#forget(oldest);
  }

  /** The blocks in force, the newest first. */
  list(page: { limit: number; after: BlockPosition | null }): readonly IpBlock[] {
    this.refresh();
    const nowMs = this.#clock.nowMs();
    return [...this.#blocks.values()]
      .filter((block) => block.blockedUntilMs > nowMs)
      .filter((block) => page.after === null || isBefore(page.after, block))
      .toSorted((one, other) => (isBefore(one, other) ? -1 : 1))
      .slice(0, page.limit);
  }

  /** Ends and forgets a block; `false` when none is in force. Durable when it returns. */
  remove(bucket: string): boolean {
    this.refresh();
    const inForce = (this.get(bucket)?.blockedUntilMs ?? 0) > this.#clock.nowMs();
    this.#forget(bucket);
    this.flush();
    return inForce;
  }

  /** Takes over what another process has unblocked; cheap when nothing was. */
  refresh(): void {
    const version = this.#database.version();
    if (version === this.#version) return;
    this.#version = version;
    const sql = "SELECT * FROM ip_blocks ORDER BY blocked_at_ms";
    const saved = (this.#database.sql.prepare(sql).all() as Row[])
      .filter((row) => !this.#unsaved.has(row.bucket))
      .map((row): [string, IpBlock] => [row.bucket, toBlock(row)]);
    const unsaved = [...this.#blocks].filter(([bucket]) => this.#unsaved.has(bucket));
    this.#blocks = new Map([...saved, ...unsaved]);
  }

  /** Writes what changed since the last time, and forgets blocks that ended long ago. */
  flush(): void {
    const forgottenMs = this.#clock.nowMs() - webLimits.ipBlockMaxMs;
    for (const block of this.#blocks.values())
      if (block.blockedUntilMs < forgottenMs) this.#forget(block.bucket);
    if (this.#unsaved.size === 0) return;
    this.#database.transaction(() => {
      for (const bucket of this.#unsaved) this.#write(bucket);
    });
    this.#unsaved.clear();
  }

  #forget(bucket: string): void {
    if (this.#blocks.delete(bucket)) this.#unsaved.add(bucket);
  }

  #write(bucket: string): void {
    const { sql } = this.#database;
    const block = this.#blocks.get(bucket);
    if (block === undefined) {
      sql.prepare("DELETE FROM ip_blocks WHERE bucket = ?").run(bucket);
      return;
    }
    const { reason, offences, blockedAtMs, blockedUntilMs } = block;
    sql
      .prepare("INSERT OR REPLACE INTO ip_blocks VALUES (?, ?, ?, ?, ?)")
      .run(bucket, reason, offences, blockedAtMs, blockedUntilMs);
  }
}

/** The order of the list; the bucket decides between blocks of the same millisecond. */
function isBefore(one: BlockPosition, other: BlockPosition): boolean {
  if (one.blockedAtMs !== other.blockedAtMs) return one.blockedAtMs > other.blockedAtMs;
  return one.bucket > other.bucket;
}

function toBlock(row: Row): IpBlock {
  return {
    bucket: row.bucket,
    reason: row.reason,
    offences: row.offences,
    blockedAtMs: row.blocked_at_ms,
    blockedUntilMs: row.blocked_until_ms,
  };
}
