import type { Address, ConditionId, Seq, TokenId } from "../../base/ids.ts";
import type { BlockFacts } from "../../market/block-facts.ts";
import type { PriceSources } from "../../query/markets/read-price.ts";
import type { ListOrder } from "../../query/row-snapshot.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";
import type { ChannelRequest } from "../frames/client-frame.ts";
import type { BookFeed } from "./book-feed.ts";

/** An entry of a channel's log: its position, and the row as the REST API returns it. */
export type Entry = {
  /** Never decreases. Rows that follow from the same log share a `seq`. */
  readonly seq: number;
  readonly json: string;
};

/** The changes that can concern a channel. */
type Interest = {
  readonly tokenIds: readonly TokenId[] | "all";
  /** Whether events other than trades can concern it. */
  readonly events: boolean;
  /** The wallets whose ledger concerns it; none by default. */
  readonly wallets?: ReadonlySet<Address>;
  /** The tokens whose supply concerns it; none by default. */
  readonly supplies?: readonly TokenId[];
};

/** A page of a log: the oldest entries after a position, or the newest ones before a position. */
type LogPage = ListOrder & {
  readonly limit: number;
  /** Requests the current state again, because a reorg can have changed it. Logs of facts ignore it. */
  readonly restate: boolean;
};

/** A log of rows that can be read from any position. Positions are seqs; -1 is before the first. */
export type ChannelLog = {
  readonly event: string;
  readonly interest: () => Interest;
  /** Returns the entries that a newly indexed block adds. A channel without this function is read instead. */
  readonly toEntries?: (block: BlockFacts) => readonly Entry[];
  /** Returns the entries of a page, in its order. Fewer than `limit` entries mean that no more follow. */
  readonly read: (page: LogPage) => Promise<readonly Entry[]>;
  /** Returns the ids of the rows after `rewindTo`. `removed` are the blocks after it, which are about to be reverted. */
  readonly revertedBy: (removed: readonly BlockFacts[], rewindTo: number) => readonly string[];
  /** Present if the channel has a feed instead of a log. Only the feed sends to the subscribers. */
  readonly openFeed?: (subscriptionId: string) => BookFeed;
};

/** What the log of a channel is opened for. */
export type Opening = {
  readonly request: ChannelRequest;
  readonly sources: StreamSources;
  /** The requested tokens, at least one if the channel type accepts tokens. */
  readonly tokenIds: readonly TokenId[];
  /** The requested wallets, at least one if the channel type accepts wallets. */
  readonly wallets: readonly Address[];
  /** The requested markets, at least one if the channel type accepts markets. */
  readonly conditionIds: readonly ConditionId[];
};

/** What a client subscribes to. */
export type Channel = ChannelLog & {
  /** The request for this channel: tokens sorted, fields in a fixed order. Frames show it as `channel`. */
  readonly normalizedRequest: Readonly<Record<string, unknown>>;
  /** The normalized request as JSON. */
  readonly name: string;
  /** The number of tokens, wallets and markets that the request names. */
  readonly tokenCount: number;
  /** Whether the channel has only final rows, which no reorg can revert. */
  readonly isFinalOnly: boolean;
};

/** Returns the page of the rows after a position, oldest first. The log of the channel ends them. */
export function pageAfter(position: number, limit: number) {
  const after = position < 0 ? null : (position as Seq);
  return { order: "asc", after, finalizedOnly: false, limit } as const;
}

/** Returns the page of the rows at or before a position, newest first. */
export function pageThrough(position: number, limit: number) {
  return { order: "desc", after: (position + 1) as Seq, finalizedOnly: false, limit } as const;
}

/**
 * Returns the first `limit` rows of a sorted list. It returns more if rows share a position, because a page ends at a
 * position.
 */
export function firstGroups<Row extends { readonly seq: number }>(
  rows: Iterable<Row>,
  limit: number,
): Row[] {
  const first: Row[] = [];
  for (const row of rows) {
    if (first.length >= limit && row.seq !== first.at(-1)?.seq) break;
    first.push(row);
  }
  return first;
}

/** The sources that channels read from. */
export type StreamSources = PriceSources & { readonly facts: IndexedFacts };
