import { AppError } from "../../base/errors.ts";
import type { ChangeFeed, FeedEntry, FeedMessage, FeedPosition } from "./change-feed.ts";

/** An unfinalized block and the hash of its parent. */
export type LinkedBlock = Extract<FeedMessage, { readonly kind: "block" }>;

/** The linked unfinalized blocks that the feed ends with, oldest first, and the position of the last message read. */
export type FeedTail = {
  readonly blocks: readonly LinkedBlock[];
  readonly position: FeedPosition;
  readonly entries: readonly FeedEntry[];
};

/** Reads the messages that a starting node needs; `null` when the feed has no term. Throws `SERVICE_UNAVAILABLE`. */
export async function readFeedTail(feed: ChangeFeed): Promise<FeedTail | null> {
  const end = await feed.end();
  if (end === null) return null;
  const entries: FeedEntry[] = [];
  let position = end.start;
  // A slow Redis can get messages faster than they are read. Those after `newest` are read as they come.
  while (!isReached(end.newest, position)) {
    const next = await feed.read(position, 0);
    const last = next.at(-1);
    if (last === undefined) break;
    ({ position } = last);
    entries.push(...next);
  }
  return { blocks: foldEntries(entries), position, entries };
}

function isReached({ epoch, term, index }: FeedPosition, position: FeedPosition): boolean {
  if (position.epoch !== epoch) return false;
  return position.term === term ? position.index >= index : position.term > term;
}

/** Folds messages to the blocks that are still valid after reverts and replacements, and that follow the last hole. */
function foldEntries(entries: readonly FeedEntry[]): readonly LinkedBlock[] {
  let blocks: readonly LinkedBlock[] = [];
  for (const { message } of entries) {
    if (message?.kind === "revert") {
      blocks = blocks.filter(({ block }) => block.number <= message.safeBlock);
    } else if (message?.kind === "block" && !blocks.some((known) => isSame(known, message))) {
      const before = blocks.filter(({ block }) => block.number < message.block.number);
      blocks = isLinked(before.at(-1), message) ? [...before, message] : [message];
    }
  }
  return blocks;
}

/** A new term sends blocks again that an earlier term already sent. */
function isSame(known: LinkedBlock, { block }: LinkedBlock): boolean {
  return known.block.number === block.number && known.block.hash === block.hash;
}

function isLinked(before: LinkedBlock | undefined, { parentHash, block }: LinkedBlock): boolean {
  return before?.block.number === block.number - 1 && before.block.hash === parentHash;
}

/**
 * Whether the feed has every unfinalized block that serving nodes can have. An indexer sends its first status after all
 * of its unfinalized blocks.
 */
export async function isFeedWhole(feed: ChangeFeed): Promise<boolean> {
  try {
    const tail = await readFeedTail(feed);
    return tail?.entries.some(({ message }) => message?.kind === "status") ?? false;
  } catch (thrown) {
    if (thrown instanceof AppError) return false;
    throw thrown;
  }
}
