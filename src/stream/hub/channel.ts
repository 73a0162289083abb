import type { Seq, TokenId } from "../../base/ids.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import type { BlockFacts } from "../../market/block-facts.ts";
import type { PriceSources } from "../../rows/price-row.ts";
import type { OrderBooks } from "../../venue/books/order-books.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";
import type { Packet } from "../frames/packet.ts";

/** One entry of a channel's log: its position, and its row as REST has it. */
export type Entry = {
  /** Rising; results that follow from one log share theirs. */
  readonly seq: number;
  /** Of the row, unique within the channel. */
  readonly id: string;
  readonly json: string;
};

/** Which changes can hold something for a channel. */
type Interest = {
  readonly tokenIds: readonly TokenId[] | "all";
  /** Everything that is not a trade. */
  readonly events: boolean;
};

/** A follower of a feed. */
export type FeedReceiver = {
  deliver(packet: Packet): void;
  sendText(text: string): void;
};

/** A state that is sent whole and then change by change; it has no past to read. */
export type Feed = {
  readonly position: number;
  add(receiver: FeedReceiver): void;
  remove(receiver: FeedReceiver): void;
};

/** A log of rows that can be read from any position. Positions are seqs; -1 is before the first. */
export type Channel = {
  readonly event: string;
  /** Normalized, in the words a client would ask for it with. */
  readonly asked: Readonly<Record<string, unknown>>;
  /** Holds only what no fork can revert. */
  readonly isFinalOnly: boolean;
  readonly interest: Interest;
  /** What a block that was just indexed adds; without it the channel is read instead. */
  readonly entriesOf?: (block: BlockFacts) => readonly Entry[];
  /**
   * What follows `after`, oldest first. Fewer than `limit` entries are all there are. `restate` says
   * that what was sent last may have changed since, as after a fork; logs of facts ignore it.
   */
  readonly readAfter: (
    after: number,
    how: { readonly limit: number; readonly restate: boolean },
  ) => Promise<readonly Entry[]>;
  /** The newest rows at or before `through`, oldest first. */
  readonly readNewest: (through: number, count: number) => Promise<readonly Entry[]>;
  /** The ids of what is after `rewindTo`, in blocks that are about to be reverted. */
  readonly revertedBy: (removed: readonly BlockFacts[], rewindTo: number) => readonly string[];
  /** In place of a log: this alone sends to subscribers. */
  readonly openFeed?: (subscriptionId: string) => Feed;
};

/** Of lists on the chain: what follows a position, oldest first. */
export function pageAfter(position: number) {
  return { order: "asc", after: position < 0 ? null : (position as Seq) } as const;
}

/** What is at or before a position, newest first. */
export function pageThrough(position: number) {
  return { order: "desc", after: (position + 1) as Seq } as const;
}

/** The first `limit` rows of a sorted list, or more: rows of one position stay together, as a page ends at a position. */
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

/** What channels read from. */
export type StreamSources = PriceSources & {
  readonly store: IndexedFacts;
  readonly contracts: Contracts;
  /** `null` when none is configured. */
  readonly books: OrderBooks | null;
};
