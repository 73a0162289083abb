/** One block, in force or ended; ended ones are remembered, as the next one is then longer. */
export type IpBlock = {
  /** An IPv4 address or an IPv6 /64, as `ipBucketOf` names it. */
  readonly bucket: string;
  readonly reason: "failed_authentication" | "abuse";
  /** How many blocks in a row this is. */
  readonly offenses: number;
  readonly blockedAtMs: number;
  readonly blockedUntilMs: number;
};

/** A place in the list of blocks, which runs from the newest to the oldest. */
type BlockPosition = Pick<IpBlock, "blockedAtMs" | "bucket">;

/** Part of the list of blocks. */
export type BlockPage = { readonly limit: number; readonly after: BlockPosition | null };

/**
 * Blocked IPs: in memory immediately, and stored soon after, because an attacker with many addresses must not cost a
 * write each. At most `ipBlocksMax`; beyond, the oldest goes.
 */
export type IpBlocks = {
  /** The newest block of a bucket, in force or ended; `null` without any. */
  get(bucket: string): IpBlock | null;
  put(block: IpBlock): void;
  /** The blocks in force, the newest first. */
  list(page: BlockPage): Promise<readonly IpBlock[]>;
  /** Ends and forgets a block; `false` when none is in force. Stored, and in force everywhere, when it resolves. */
  remove(bucket: string): Promise<boolean>;
};

/** The page of `blocks` that are in force. */
export function pageOfBlocks(
  blocks: Iterable<IpBlock>,
  page: BlockPage,
  nowMs: number,
): readonly IpBlock[] {
  const inForce = [...blocks].filter((block) => block.blockedUntilMs > nowMs);
  return newestFirst(inForce, page, ({ blockedAtMs, bucket }) => [blockedAtMs, bucket]);
}

/** A page of a list from the newest to the oldest; the text decides between those of the same millisecond. */
export function newestFirst<Item extends After, After>(
  items: readonly Item[],
  { limit, after }: { readonly limit: number; readonly after: After | null },
  placeOf: (item: After) => readonly [atMs: number, text: string],
): readonly Item[] {
  const isBefore = (one: After, other: After): boolean => {
    const [[atMs, text], [otherMs, otherText]] = [placeOf(one), placeOf(other)];
    return atMs === otherMs ? text > otherText : atMs > otherMs;
  };
  return items
    .filter((item) => after === null || isBefore(after, item))
    .toSorted((one, other) => (isBefore(one, other) ? -1 : 1))
    .slice(0, limit);
}
