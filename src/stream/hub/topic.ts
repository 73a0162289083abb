import type { BlockFacts } from "../../market/block-facts.ts";
import { Packet } from "../frames/packet.ts";
import { shownSeq } from "../frames/server-frames.ts";
import type { BookFeed } from "./book-feed.ts";
import type { Channel, Entry } from "./channel.ts";

/** A subscription, as its topic and its connection see it. */
export type Follower = {
  readonly topic: Topic;
  /** The position after which it begins. */
  readonly begin: number;
  start(): void;
  /** Ends it immediately. Resolves when no read is in progress. */
  end(): Promise<void>;
  /** Sends the entries that a block has added. `previous` is the `prev_seq` of the first event of the packet. */
  report(packet: Packet, change: { entries: readonly Entry[]; previous: number }): void;
  /** Reads the entries that may have been added after `from`. Everything up to `from` was sent. */
  readOn(from: number): void;
  /** Called when everything after `to` is about to be reverted. */
  rewind(to: number, reverted: readonly string[]): void;
};

/** A channel with followers. All clients with the same request share it. */
export class Topic {
  /** The `subscription_id` for all followers, so that all of them can be sent the same frames. */
  readonly id: string;
  readonly channel: Channel;
  readonly followers = new Set<Follower>();
  readonly feed: BookFeed | null;
  readonly #eventHead: string;
  /** The position of the newest event that was pushed. It is the `prev_seq` of the next packet. */
  #pushedSeq: number;

  constructor(id: string, channel: Channel, position: number) {
    this.id = id;
    this.channel = channel;
    this.feed = channel.openFeed?.(id) ?? null;
    this.#pushedSeq = position;
    const { event, normalizedRequest } = channel;
    const head = { type: "event", event, channel: labelOf(normalizedRequest), subscription_id: id };
    this.#eventHead = JSON.stringify(head).slice(0, -1);
  }

  /** Sends the entries that an unfinalized block adds. A channel without `entriesOf` is read after `from` instead. */
  publish(block: BlockFacts, from: number): void {
    const entries = this.channel.entriesOf?.(block);
    const last = entries?.at(-1);
    if (entries === undefined) this.readOn(from);
    if (entries === undefined || last === undefined) return;
    const previous = this.#pushedSeq;
    const packet = this.packetOf(entries, { previous, isReplay: false });
    this.#pushedSeq = last.seq;
    for (const follower of this.followers) follower.report(packet, { entries, previous });
  }

  readOn(from: number): void {
    for (const follower of this.followers) follower.readOn(from);
  }

  rewind(to: number, removed: readonly BlockFacts[]): void {
    this.#pushedSeq = Math.min(this.#pushedSeq, to);
    const reverted = this.channel.revertedBy(removed, to);
    for (const follower of this.followers) follower.rewind(to, reverted);
  }

  /** Builds the events of entries, at least one. The `prev_seq` of each event is the `seq` of the event before. */
  packetOf(
    entries: readonly Entry[],
    { previous, isReplay }: { previous: number; isReplay: boolean },
  ): Packet {
    let before = previous;
    const texts = entries.map(({ seq: ownSeq, json }) => {
      // A state that is sent again, for example a closed candle, must not move clients back.
      const seq = Math.max(ownSeq, before);
      const chain = `"seq":${shownSeq(seq)},"prev_seq":${shownSeq(before)}`;
      before = seq;
      return `${this.#eventHead},${chain}${isReplay ? ',"replay":true' : ""},"data":${json}}`;
    });
    return new Packet(texts, { firstSeq: entries[0]?.seq ?? before, lastSeq: before });
  }
}

/** Returns the fields that name a channel in its events. The filter and the list of tokens would be too long. */
function labelOf({ filter: _filter, token_ids: _ids, ...label }: Channel["normalizedRequest"]) {
  return label;
}
