import type { Hash } from "../../base/ids.ts";
import type { TimedBlock } from "../../chain/raw-log.ts";
import type { BlockFacts } from "../../market/block-facts.ts";
import type { Checks } from "../indexer.ts";

/**
 * What the active indexer says to serving nodes, in chain order. Final facts are in the store: of them the feed has
 * references only.
 */
export type FeedMessage =
  /** A new term has begun; its first message. All unfinalized blocks follow once more. */
  | { readonly kind: "term"; readonly node: string }
  /** An unfinalized block and the hash of the block before it; `null` where the chain of the indexer begins. */
  | { readonly kind: "block"; readonly parentHash: Hash | null; readonly block: BlockFacts }
  | { readonly kind: "revert"; readonly safeBlock: number }
  /** Blocks through `last` are committed. Nodes go by the store, which may show them later. */
  | { readonly kind: "committed"; readonly last: TimedBlock }
  /** Every second: how far the chain is, and how the indexer is. */
  | { readonly kind: "status"; readonly status: IndexerStatus };

/** What serving nodes know of the active indexer. */
export type IndexerStatus = {
  readonly node: string;
  readonly head: { readonly number: number; readonly timestamp: number } | null;
  readonly checks: Checks;
};

/** One indexer's time as the active one. A feed that was emptied has another epoch, and counts terms from 1 again. */
export type FeedTerm = { readonly epoch: string; readonly term: number };

/** The place of a message: the first of a term has index 1. */
export type FeedPosition = FeedTerm & { readonly index: number };

/** A message at its place. */
export type FeedEntry = {
  readonly position: FeedPosition;
  /** `null` when this version cannot read it. */
  readonly message: FeedMessage | null;
};

/** Where the feed ends, and behind which message a node has to read to have all unfinalized blocks. */
export type FeedEnd = { readonly newest: FeedPosition; readonly start: FeedPosition };

/**
 * The ordered log between the active indexer and the serving nodes. It may lose its beginning, or everything, and is
 * never the truth. Every call throws `SERVICE_UNAVAILABLE` while the feed is.
 */
export type ChangeFeed = {
  /** Begins a term above all others: appends of earlier ones are refused from now on. */
  beginTerm(node: string): Promise<FeedTerm>;
  /**
   * Appends a message. `startIndex` is that of the last message of this term which a node that starts can do without;
   * `null` while it needs messages of earlier terms. Throws when another indexer has begun a term since, or the feed was emptied.
   */
  append(term: FeedTerm, message: FeedMessage, startIndex: number | null): Promise<FeedPosition>;
  /**
   * The messages behind a position, oldest first, a bounded number; waits up to `waitMs` for the first. When the feed was
   * emptied since, those from its beginning. Those that are no longer there are left out.
   */
  read(after: FeedPosition, waitMs: number): Promise<readonly FeedEntry[]>;
  /** `null` before the first term. */
  end(): Promise<FeedEnd | null>;
};
