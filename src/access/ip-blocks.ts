import { webLimits } from "../base/config/limits.ts";

/** A block of an IP, in force or ended. Ended blocks are kept because they make the next block longer. */
export type IpBlock = {
  /** An IPv4 address or an IPv6 /64, as `toIpBucket` returns it. */
  readonly bucket: string;
  readonly reason: "failed_authentication" | "abuse";
  /** The number of blocks in a row, including this one. */
  readonly offenses: number;
  readonly blockedAtMs: number;
  readonly blockedUntilMs: number;
};

type BlockPosition = Pick<IpBlock, "blockedAtMs" | "bucket">;

/** A page of the list of blocks: at most `limit` blocks after `after`. */
export type BlockPage = { readonly limit: number; readonly after: BlockPosition | null };

/**
 * Blocked IPs. A block is in force immediately and stored soon after, because an attacker with many addresses must not
 * cause a write for each. Holds at most `ipBlocksMax` blocks; a new one then evicts the oldest.
 */
export type IpBlocks = {
  /** Returns the newest block of a bucket, in force or ended; `null` when there is none. */
  get(bucket: string): IpBlock | null;
  put(block: IpBlock): void;
  /** Lists the blocks in force, newest first. */
  list(page: BlockPage): Promise<readonly IpBlock[]>;
  /** Removes a block and resolves when that is stored. Returns `false` when no block was in force. */
  remove(bucket: string): Promise<boolean>;
};

/**
 * Returns for how many more milliseconds a block is in force; 0 when it is not. If more would remain than any block
 * lasts, the wall clock was ahead when the block was made.
 */
export function remainingMs(block: IpBlock | null, nowMs: number): number {
  const leftMs = (block?.blockedUntilMs ?? 0) - nowMs;
  return leftMs > webLimits.ipBlockMaxMs ? 0 : Math.max(0, leftMs);
}

/** Returns a page of those `blocks` that are in force. */
export function pageOfBlocks(
  blocks: Iterable<IpBlock>,
  page: BlockPage,
  nowMs: number,
): readonly IpBlock[] {
  const inForce = [...blocks].filter((block) => remainingMs(block, nowMs) > 0);
  return newestFirst(inForce, page, ({ blockedAtMs, bucket }) => [blockedAtMs, bucket]);
}

/** Returns a page of `items` from newest to oldest. The text orders items of the same millisecond. */
export function newestFirst<Item extends After, After>(
  items: readonly Item[],
  { limit, after }: { readonly limit: number; readonly after: After | null },
  getPosition: (item: After) => readonly [atMs: number, text: string],
): readonly Item[] {
  const isBefore = (one: After, other: After): boolean => {
    const [[atMs, text], [otherMs, otherText]] = [getPosition(one), getPosition(other)];
    return atMs === otherMs ? text > otherText : atMs > otherMs;
  };
  return items
    .filter((item) => after === null || isBefore(after, item))
    .toSorted((one, other) => (isBefore(one, other) ? -1 : 1))
    .slice(0, limit);
}
