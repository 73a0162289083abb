import { AppError } from "../../base/errors.ts";
import type { Hash } from "../../base/ids.ts";
import type { BlockFacts } from "../../market/block-facts.ts";
import type { ChangeFeed, FeedEntry, FeedPosition } from "./change-feed.ts";

/** An unfinalized block and the hash of the block before it. */
export type LinkedBlock = { readonly parentHash: Hash | null; readonly block: BlockFacts };

/** The unfinalized blocks that the feed ends with, oldest first, linked; and the message they go up to. */
export type FeedTail = {
  readonly blocks: readonly LinkedBlock[];
  readonly position: FeedPosition;
  readonly entries: readonly FeedEntry[];
};

/** Reads what a node that starts needs; `null` when the feed has no term. Throws `SERVICE_UNAVAILABLE`. */
export async function readFeedTail(feed: ChangeFeed): Promise<FeedTail | null> {
  const end = await feed.end();
  if (end === null) return null;
  const entries: FeedEntry[] = [];
  let position = end.start;
  for (;;) {
    const next = await feed.read(position, 0);
    const last = next.at(-1);
    if (last === undefined) return { blocks: foldEntries(entries), position, entries };
    ({ position } = last);
    entries.push(...next);
  }
}

/** What reverts and replacements have left of the blocks of these messages; only those behind a hole. */
function foldEntries(entries: readonly FeedEntry[]): readonly LinkedBlock[] {
  let blocks: readonly LinkedBlock[] = [];
  for (const { message } of entries) {
    if (message?.kind === "revert") {
      blocks = blocks.filter(({ block }) => block.number <= message.safeBlock);
    } else if (message?.kind === "block") {
      const before = blocks.filter(({ block }) => block.number < message.block.number);
      blocks = isLinked(before.at(-1), message) ? [...before, message] : [message];
    }
  }
  return blocks;
}

function isLinked(before: LinkedBlock | undefined, { parentHash, block }: LinkedBlock): boolean {
  return before?.block.number === block.number - 1 && before.block.hash === parentHash;
}

/** The hashes of the unfinalized blocks that serving nodes may have, by number; none when the feed is unavailable. */
export async function readKnownHashes(feed: ChangeFeed): Promise<ReadonlyMap<number, Hash>> {
  try {
    const tail = await readFeedTail(feed);
    return new Map(tail?.blocks.map(({ block }) => [block.number, block.hash]));
  } catch (thrown) {
    if (thrown instanceof AppError) return new Map();
    throw thrown;
  }
}
