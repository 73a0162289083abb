import { webLimits } from "../../base/config/limits.ts";
import type { Clock } from "../../base/time/clock.ts";
import {
  type BlockPage,
  type IpBlock,
  type IpBlocks,
  pageOfBlocks,
  remainingMs,
} from "../ip-blocks.ts";
import type { AccessDatabase } from "./access-database.ts";

const blocksSql = `SELECT bucket, reason, offenses,
  blocked_at_ms AS blockedAtMs, blocked_until_ms AS blockedUntilMs
  FROM ip_blocks ORDER BY blocked_at_ms`;

/** Blocked IPs in SQLite, with a copy in memory. The next flush writes changes. */
export class LocalIpBlocks implements IpBlocks {
  readonly #database: AccessDatabase;
  readonly #clock: Clock;
  readonly #unsaved = new Set<string>();
  #blocks = new Map<string, IpBlock>();
  #version = -1;

  constructor(database: AccessDatabase, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
    this.refresh();
  }

  get(bucket: string): IpBlock | null {
    const block = this.#blocks.get(bucket);
    if (block === undefined) return null;
    if (block.blockedUntilMs <= this.#clock.nowMs()) return block;
    // Only blocked callers pay for checking whether another process has unblocked them.
    this.refresh();
    return this.#blocks.get(bucket) ?? null;
  }

  put(block: IpBlock): void {
    this.#blocks.delete(block.bucket);
    this.#blocks.set(block.bucket, block);
    this.#unsaved.add(block.bucket);
    const [oldest] = this.#blocks.keys();
    if (this.#blocks.size > webLimits.ipBlocksMax && oldest !== undefined) this.#forget(oldest);
  }

  async list(page: BlockPage): Promise<readonly IpBlock[]> {
    this.refresh();
    return pageOfBlocks(this.#blocks.values(), page, this.#clock.nowMs());
  }

  async remove(bucket: string): Promise<boolean> {
    this.refresh();
    const inForce = remainingMs(this.#blocks.get(bucket) ?? null, this.#clock.nowMs()) > 0;
    this.#forget(bucket);
    this.flush();
    return inForce;
  }

  /** Applies changes of another process, such as unblocking an IP. Cheap when there are none. */
  refresh(): void {
    const version = this.#database.version();
    if (version === this.#version) return;
    this.#version = version;
    const saved = (this.#database.sql.prepare(blocksSql).all() as IpBlock[])
      .filter(({ bucket }) => !this.#unsaved.has(bucket))
      .map((block) => [block.bucket, { ...block }] as const);
    const unsaved = [...this.#blocks].filter(([bucket]) => this.#unsaved.has(bucket));
    this.#blocks = new Map([...saved, ...unsaved]);
  }

  /** Writes changes since the last flush, and forgets blocks that ended more than `ipBlockMaxMs` ago. */
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
    const { reason, offenses, blockedAtMs, blockedUntilMs } = block;
    sql
      .prepare("INSERT OR REPLACE INTO ip_blocks VALUES (?, ?, ?, ?, ?)")
      .run(bucket, reason, offenses, blockedAtMs, blockedUntilMs);
  }
}
