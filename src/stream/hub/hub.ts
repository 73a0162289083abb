/** Passes each change of the log to the subscriptions that it concerns. */
import {
  type Address,
  type Seq,
  type TokenId,
  toBlockNumber,
  toFirstSeq,
  toLastSeq,
} from "../../base/ids.ts";
import { invalid } from "../../base/input/compile-reader.ts";
import type { BlockFacts } from "../../market/block-facts.ts";
import type { Delta } from "../../market/delta.ts";
import { isTrade } from "../../market/fill.ts";
import { reachesBeforeFirst } from "../../query/before-first.ts";
import { waitForPosition } from "../../query/wait-for-position.ts";
import { openChannel } from "../channels.ts";
import type { ChannelRequest } from "../frames/client-frame.ts";
import { finalizedFrame } from "../frames/server-frames.ts";
import type { BookFeed, BookReceiver } from "./book-feed.ts";
import type { Channel, StreamSources } from "./channel.ts";
import { History } from "./history.ts";
import { LogSubscription, type Receiver, type Start } from "./log-subscription.ts";
import { type Subscription, Topic } from "./topic.ts";

/** The contents of blocks that decide which topics they concern. */
type Contents = {
  readonly tokenIds: ReadonlySet<TokenId>;
  readonly hasEvents: boolean;
  /** `null` if any wallet can have rows. */
  readonly wallets: ReadonlySet<Address> | null;
  readonly supplies: ReadonlySet<TokenId>;
};

type RequestedStart = Pick<ChannelRequest, "resume_from" | "allow_gap" | "snapshot">;

export class Hub {
  /** The connections with subscriptions. They receive what concerns all channels. */
  readonly listeners = new Set<Pick<Receiver, "sendText">>();
  readonly #sources: StreamSources;
  readonly #history: History;
  readonly #topics = new Map<string, Topic>();
  /** Reads in progress of subscriptions that have ended. */
  readonly #ending = new Set<Promise<void>>();
  #topicsMade = 0;

  constructor(sources: StreamSources) {
    this.#sources = sources;
    const { facts } = sources;
    this.#history = new History(facts.newestSeq, getFinalSeq(facts));
  }

  /** The last position indexed; -1 before the first. */
  get latestSeq(): number {
    return this.#history.latest;
  }

  /**
   * Waits until a client that resumes at `position` can be served here (see `waitForPosition`). Throws
   * `VALIDATION_ERROR` when rows after it were never indexed, unless the client allows that gap; 0 means from the first
   * row on.
   */
  waitForPosition(
    { resume_from: position = 0, allow_gap: allowsGap = false }: RequestedStart,
    headBlock: number | null,
  ): Promise<void> | null {
    const { facts } = this.#sources;
    const { first } = facts;
    if (first !== null && position > 0 && !allowsGap) {
      const earliest = toFirstSeq(first.number) - 1;
      if (reachesBeforeFirst(this.#sources, { after_seq: position }))
        throw invalid(
          "resume_from",
          `is before the first indexed block, ${first.number}: rows between are missing. Resume from ${earliest} or later, or send "allow_gap": true`,
        );
    }
    return waitForPosition(facts, { position, parameter: "resume_from", headBlock });
  }

  /** Returns the requested channel. Throws what `openChannel` throws. */
  toChannel(request: ChannelRequest): Channel {
    return openChannel(request, this.#sources);
  }

  get topicCount(): number {
    return this.#topics.size;
  }

  /** Subscribes a client to a channel. The caller starts the subscription in the same turn. */
  subscribe(channel: Channel, requested: RequestedStart, receiver: Receiver): Subscription {
    const topic = this.#getTopic(channel);
    const history = this.#history;
    const start = this.#getStart(topic, requested);
    const subscription =
      topic.feed === null
        ? new LogSubscription({ topic, history, receiver, start })
        : subscribeToFeed(topic, topic.feed, receiver);
    topic.subscriptions.add(subscription);
    return subscription;
  }

  #getStart(topic: Topic, { resume_from: requestedSeq, snapshot = 0 }: RequestedStart): Start {
    // No log has position 0 (block 0, index 0), so 0 stands for the beginning.
    const resumeFrom = requestedSeq === 0 ? -1 : requestedSeq;
    const begin = resumeFrom ?? this.#history.getEnd(topic.channel);
    const mayBeGone = resumeFrom !== undefined && !topic.channel.isFinalOnly;
    const { reorgs } = this.#sources.facts;
    const safePosition = mayBeGone ? reorgs.certainPosition(begin) : begin;
    return { begin, safePosition, isReplay: resumeFrom !== undefined, snapshotRows: snapshot };
  }

  unsubscribe(subscription: Subscription): void {
    const { topic } = subscription;
    const ending = subscription.end().then(() => void this.#ending.delete(ending));
    this.#ending.add(ending);
    topic.subscriptions.delete(subscription);
    if (topic.subscriptions.size === 0) this.#topics.delete(topic.channel.name);
  }

  unfinalized(block: BlockFacts): void {
    const from = this.#history.latest;
    this.#history.latest = toLastSeq(block.number);
    const contents = getContents(block.fills.filter(isTrade), [block]);
    for (const topic of this.#topics.values()) {
      if (!topic.channel.isFinalOnly && concerns(topic.channel, contents))
        topic.publish(block, from);
    }
    this.#history.changed();
  }

  /** Called when the blocks after `safeBlock` are about to be reverted. The views still have them. */
  reverting(safeBlock: number, removed: readonly BlockFacts[]): void {
    const to = toLastSeq(safeBlock);
    this.#history.latest = Math.min(this.#history.latest, to);
    this.#history.reorgs += 1;
    for (const topic of this.#topics.values()) {
      if (!topic.channel.isFinalOnly) topic.rewind(to, removed);
    }
    this.#history.changed();
  }

  appended({ trades, events, supplies }: Delta): void {
    const blocks = [{ events, supplies, ledger: [] }];
    this.#addFinal({ ...getContents(trades, blocks), wallets: null }, true);
  }

  finalized(blocks: readonly BlockFacts[]): void {
    const fills = blocks.flatMap((block) => block.fills).filter(isTrade);
    this.#addFinal(getContents(fills, blocks), false);
  }

  /** Notifies topics of newly final blocks. Blocks already sent as unfinalized reach only topics with `finality: finalized`. */
  #addFinal(contents: Contents, areNew: boolean): void {
    const { latest, final } = this.#history;
    const { facts } = this.#sources;
    this.#history.final = getFinalSeq(facts);
    this.#history.latest = facts.newestSeq;
    for (const topic of this.#topics.values()) {
      const { isFinalOnly } = topic.channel;
      if (!areNew && !isFinalOnly) continue;
      if (concerns(topic.channel, contents)) topic.readOn(isFinalOnly ? final : latest);
    }
    this.#history.changed();
    if (this.listeners.size === 0 || this.#history.final < 0) return;
    const text = finalizedFrame(toBlockNumber(this.#history.final as Seq), this.#history.final);
    for (const listener of this.listeners) listener.sendText(text);
  }

  /** Ends all subscriptions. Resolves when no read is in progress. */
  async close(): Promise<void> {
    for (const { subscriptions } of this.#topics.values()) {
      for (const subscription of subscriptions) this.unsubscribe(subscription);
    }
    this.#history.changed();
    await Promise.all(this.#ending);
  }

  #getTopic(channel: Channel): Topic {
    const existing = this.#topics.get(channel.name);
    if (existing !== undefined) return existing;
    this.#topicsMade += 1;
    const topic = new Topic(`s${this.#topicsMade}`, channel);
    this.#topics.set(channel.name, topic);
    return topic;
  }
}

/** Returns the last final position; -1 before the first. */
function getFinalSeq({ coverage }: StreamSources["facts"]): number {
  return coverage === null ? -1 : toLastSeq(coverage.last.number);
}

function getContents(
  trades: readonly { readonly tokenId: TokenId }[],
  blocks: readonly Pick<BlockFacts, "events" | "ledger" | "supplies">[],
): Contents {
  return {
    tokenIds: new Set(trades.map(({ tokenId }) => tokenId)),
    hasEvents: blocks.some(({ events }) => events.length > 0),
    wallets: new Set(blocks.flatMap(({ ledger }) => ledger.map(({ wallet }) => wallet))),
    supplies: new Set(blocks.flatMap(({ supplies }) => supplies.map(({ tokenId }) => tokenId))),
  };
}

function concerns(channel: Channel, { tokenIds, hasEvents, wallets, supplies }: Contents): boolean {
  const interest = channel.interest();
  if (interest.wallets !== undefined)
    return wallets === null || interest.wallets.values().some((wallet) => wallets.has(wallet));
  if (interest.events && hasEvents) return true;
  if (interest.supplies?.some((tokenId) => supplies.has(tokenId)) === true) return true;
  if (interest.tokenIds === "all") return tokenIds.size > 0;
  return interest.tokenIds.some((tokenId) => tokenIds.has(tokenId));
}

/** Subscribes one client to a feed. No change of the chain concerns it, and it has no history to read. */
function subscribeToFeed(topic: Topic, feed: BookFeed, receiver: BookReceiver): Subscription {
  return {
    topic,
    begin: feed.position,
    start: () => feed.add(receiver),
    end: async () => feed.remove(receiver),
    report: () => {},
    readOn: () => {},
    rewind: () => {},
  };
}
