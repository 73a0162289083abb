import type { BlockFacts } from "../../market/block-facts.ts";
import { Packet } from "../frames/packet.ts";
import { shownSeq } from "../frames/server-frames.ts";
import type { Channel, Entry, Feed } from "./channel.ts";

/** A subscription as its topic and its connection have it. */
export type Subscribed = {
  readonly topic: Topic;
  /** The position that it begins behind. */
  readonly begin: number;
  /** Resolves when the reading that is under way has stopped. */
  readonly settled: Promise<void>;
  start(): void;
  end(): void;
  /** Takes what a block has added; `previous` is where the packet says the topic stood before. */
  report(packet: Packet, change: { entries: readonly Entry[]; previous: number }): void;
  /** Something may have been added behind `from`, up to where everything was sent. */
  readOn(from: number): void;
  /** Everything behind `to` is about to be reverted. */
  rewind(to: number, reverted: readonly string[]): void;
};

/** A channel and its name: what it is asked for with, in one order. */
export type NamedChannel = { readonly channel: Channel; readonly name: string };

/** A channel that someone follows, shared by all who asked for the same. */
export class Topic {
  /** Names the subscription to everybody who has it, so that frames can be the same for all. */
  readonly id: string;
  readonly name: string;
  readonly channel: Channel;
  readonly followers = new Set<Subscribed>();
  readonly feed: Feed | null;
  readonly #eventHead: string;
  /** The position of the newest event that was pushed; packets are chained to it. */
  #pushedSeq: number;

  constructor(id: string, { channel, name }: NamedChannel, position: number) {
    this.id = id;
    this.name = name;
    this.channel = channel;
    this.feed = channel.openFeed?.(id) ?? null;
    this.#pushedSeq = position;
    const { event, asked } = channel;
    const head = { type: "event", event, channel: labelOf(asked), subscription_id: id };
    this.#eventHead = JSON.stringify(head).slice(0, -1);
  }

  /** Reports what an unfinalized block adds; channels that are read instead are read from `from` on. */
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

  /** Entries as events of this topic, at least one, each chained to the one before. */
  packetOf(
    entries: readonly Entry[],
    { previous, isReplay }: { previous: number; isReplay: boolean },
  ): Packet {
    let before = previous;
    const texts = entries.map(({ seq: ownSeq, json }) => {
      // A state that is sent again, such as a closed candle, does not move clients back.
      const seq = Math.max(ownSeq, before);
      const chain = `"seq":${shownSeq(seq)},"prev_seq":${shownSeq(before)}`;
      before = seq;
      return `${this.#eventHead},${chain}${isReplay ? ',"replay":true' : ""},"data":${json}}`;
    });
    return new Packet(texts, { firstSeq: entries[0]?.seq ?? before, lastSeq: before });
  }
}

/** How events name a channel: without what would be long. */
function labelOf({ filter: _filter, token_ids: _ids, ...label }: Channel["asked"]) {
  return label;
}
