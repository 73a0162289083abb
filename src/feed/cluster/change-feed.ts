import type { Hash } from "../../base/ids.ts";
import type { TimedBlock } from "../../chain/raw-log.ts";
import type { BlockFacts } from "../../market/block-facts.ts";
import type { Checks, ObservedHead } from "../intake.ts";

/**
 * A message of the active indexer to serving nodes, in chain order. Final facts are in the store; the feed only refers
 * to them.
 */
export type FeedMessage =
  /** An unfinalized block, sent once, and the hash of its parent; `null` for the first block of the indexer. */
  | { readonly kind: "block"; readonly parentHash: Hash | null; readonly block: BlockFacts }
  | { readonly kind: "revert"; readonly safeBlock: number }
  /** Blocks through `last` are committed. Nodes check the store, whose replicas can show them later. */
  | { readonly kind: "committed"; readonly last: TimedBlock }
  /** Every second: the head of the chain and the health of the indexer. */
  | { readonly kind: "status"; readonly status: IndexerStatus };

/** An unfinalized block and the hash of its parent. */
export type LinkedBlock = Extract<FeedMessage, { readonly kind: "block" }>;

/** What serving nodes know about the active indexer. */
export type IndexerStatus = {
  readonly node: string;
  /** The age is missing in the status of an older indexer. */
  readonly head: (Omit<ObservedHead, "ageMs"> & Partial<ObservedHead>) | null;
  readonly checks: Checks;
};

/** The period in which one indexer is active. An emptied feed gets a new epoch and counts terms from 1 again. */
export type FeedTerm = { readonly epoch: string; readonly term: number };

/** The position of a message. The first message of a term has index 1. */
export type FeedPosition = FeedTerm & { readonly index: number };

/** A message with its position. */
export type FeedEntry = {
  readonly position: FeedPosition;
  /** `null` when this node cannot read it: it has another version or was written with another secret. */
  readonly message: FeedMessage | null;
};

/** The active indexer, and the number of its term; `null` when the term is not known. */
export type ActiveIndexer = { readonly node: string; readonly term: number | null };

/** The unfinalized blocks of the feed. A node that has them continues with the messages after `newest`. */
export type FeedHead = {
  readonly newest: FeedPosition;
  /** The blocks that were sent in any term and neither reverted nor committed since, oldest first. */
  readonly blocks: readonly LinkedBlock[];
  /** Whether these are all: false until the first status of an epoch, and when this node cannot read a block. */
  readonly isWhole: boolean;
};

/**
 * The ordered log between the active indexer and the serving nodes. It can lose its beginning or all of its messages,
 * and is never the source of truth. Every call throws `SERVICE_UNAVAILABLE` while the feed is unavailable.
 */
export type ChangeFeed = {
  /** Begins a term above all others. From now on appends of earlier terms are refused. */
  beginTerm(node: string): Promise<FeedTerm>;
  /** Appends a message. Throws when another indexer has begun a term, or the feed was emptied. */
  append(term: FeedTerm, message: FeedMessage): Promise<FeedPosition>;
  /**
   * Reads messages after a position, oldest first, up to a limit. Waits up to `waitMs` for the first. Messages that the
   * feed no longer has are skipped. If it was emptied since, messages have another epoch, or none are found.
   */
  read(after: FeedPosition, waitMs: number): Promise<readonly FeedEntry[]>;
  /** Reads whose term it is; `null` before the first. */
  active(): Promise<ActiveIndexer | null>;
  /** Reads the unfinalized blocks; `null` before the first term. */
  head(): Promise<FeedHead | null>;
};
