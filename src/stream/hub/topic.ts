import type { BlockFacts } from "../../market/block-facts.ts";
import { Packet } from "../frames/packet.ts";
import { publicSeq } from "../frames/server-frames.ts";
import type { BookFeed } from "./book-feed.ts";
import type { Channel, Entry } from "./channel.ts";

/** A subscription, as its topic and its connection see it. */
export type Subscription = {
  readonly topic: Topic;
  /** The position after which it begins. */
  readonly begin: number;
  start(): void;
  /** Ends it immediately. Resolves when no read is in progress. */
  end(): Promise<void>;
  /** Sends the entries that a block has added. */
  report(entries: readonly Entry[]): void;
  /** Reads the entries that may have been added after `from`. Everything up to `from` was sent. */
  readOn(from: number): void;
  /** Called when everything after `to` is about to be reverted. */
  rewind(to: number, reverted: readonly string[]): void;
};

/** What the events of a packet follow, and whether the client resumes. */
type Chain = { readonly previous: number; readonly isReplay: boolean };

/** A channel with subscriptions. All clients with the same request share it. */
export class Topic {
  /** The `subscription_id` for all subscriptions, so that all of them can be sent the same frames. */
  readonly id: string;
  readonly channel: Channel;
  readonly subscriptions = new Set<Subscription>();
  readonly feed: BookFeed | null;
  readonly #eventHead: string;
  /** By the entries, then by how they are chained to earlier events. */
  readonly #packets = new WeakMap<readonly Entry[], Map<string, Packet>>();

  constructor(id: string, channel: Channel) {
    this.id = id;
    this.channel = channel;
    this.feed = channel.openFeed?.(id) ?? null;
    const { event, normalizedRequest } = channel;
    const head = { type: "event", event, channel: toLabel(normalizedRequest), subscription_id: id };
    this.#eventHead = JSON.stringify(head).slice(0, -1);
  }

  /** Sends the entries that an unfinalized block adds. A channel without `toEntries` is read after `from` instead. */
  publish(block: BlockFacts, from: number): void {
    const entries = this.channel.toEntries?.(block);
    if (entries === undefined) this.readOn(from);
    else if (entries.length > 0)
      for (const subscription of this.subscriptions) subscription.report(entries);
  }

  readOn(from: number): void {
    for (const subscription of this.subscriptions) subscription.readOn(from);
  }

  rewind(to: number, removed: readonly BlockFacts[]): void {
    const reverted = this.channel.revertedBy(removed, to);
    for (const subscription of this.subscriptions) subscription.rewind(to, reverted);
  }

  /**
   * Returns the events of entries, at least one. The first follows the event at `previous`. All subscriptions with the
   * same `chain` share one packet.
   */
  getPacket(entries: readonly Entry[], chain: Chain): Packet {
    const name = `${chain.previous} ${chain.isReplay}`;
    const built = this.#packets.get(entries) ?? new Map<string, Packet>();
    this.#packets.set(entries, built);
    const packet = built.get(name) ?? this.#build(entries, chain);
    built.set(name, packet);
    return packet;
  }

  /** The `prev_seq` of each event is the `seq` of the event before. */
  #build(entries: readonly Entry[], { previous, isReplay }: Chain): Packet {
    let before = previous;
    const texts = entries.map(({ seq: ownSeq, json }) => {
      // A state that is sent again, for example a closed candle, must not move clients back.
      const seq = Math.max(ownSeq, before);
      const chain = `"seq":${publicSeq(seq)},"prev_seq":${publicSeq(before)}`;
      before = seq;
      return `${this.#eventHead},${chain}${isReplay ? ',"replay":true' : ""},"data":${json}}`;
    });
    return new Packet(texts, { firstSeq: entries[0]?.seq ?? before, lastSeq: before });
  }
}

/** Returns the fields that name a channel in its events. The filter and the list of tokens would be too long. */
function toLabel({ filter: _filter, token_ids: _ids, ...label }: Channel["normalizedRequest"]) {
  return label;
}
