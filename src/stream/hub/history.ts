import { streamLimits } from "../../base/config/limits.ts";
import type { Packet } from "../frames/packet.ts";
import { type Entry, firstGroups } from "./channel.ts";
import type { Topic } from "./topic.ts";

/** What follows a position, in slices to send one by one; everything up to `readTo` is in it. */
export type HistoryPage = {
  readonly slices: readonly (readonly Entry[])[];
  readonly readTo: number;
};

type CachedPage = { readonly page: Promise<HistoryPage>; readonly version: number };

/** How far the log goes; `version` rises with everything that is indexed, finalized or reverted. */
export type LogEnd = {
  /** The last position indexed, and the last that is final; -1 before the first. */
  latest: number;
  final: number;
  version: number;
  forks: number;
};

/** Reads the logs of topics, and caches the newest pages: clients that read the same range share them. */
export class History {
  readonly #end: LogEnd;
  readonly #pages = new Map<string, CachedPage>();
  readonly #packets = new WeakMap<readonly Entry[], Map<string, Packet>>();
  #waiting: (() => void)[] = [];

  constructor(end: LogEnd) {
    this.#end = end;
  }

  /** How often the log was reverted: what was read meanwhile is discarded. */
  get forks(): number {
    return this.#end.forks;
  }

  endOf({ channel }: Topic): number {
    return channel.isFinalOnly ? this.#end.final : this.#end.latest;
  }

  /** Reads on behind a position; `restate` as channels take it. */
  read(topic: Topic, after: number, restate: boolean): Promise<HistoryPage> {
    const name = `${topic.id} ${after} ${restate}`;
    const known = this.#pages.get(name);
    if (known?.version === this.#end.version) return known.page;
    const page = this.#readPage(topic, after, restate);
    this.#pages.set(name, { page, version: this.#end.version });
    // The next client tries again.
    page.catch(() => this.#pages.delete(name));
    // Maps keep the order of their keys: the first is the oldest.
    const [oldest] = this.#pages.keys();
    if (this.#pages.size > streamLimits.historyPagesKept && oldest !== undefined) {
      this.#pages.delete(oldest);
    }
    return page;
  }

  /** The events of a slice, made once for all who are sent them in the same way. */
  packetOf(
    topic: Topic,
    entries: readonly Entry[],
    chain: { previous: number; isReplay: boolean },
  ): Packet {
    const name = `${topic.id} ${chain.previous} ${chain.isReplay}`;
    const ofSlice = this.#packets.get(entries) ?? new Map<string, Packet>();
    this.#packets.set(entries, ofSlice);
    const packet = ofSlice.get(name) ?? topic.packetOf(entries, chain);
    ofSlice.set(name, packet);
    return packet;
  }

  async whenAdded(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  notifyAdded(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async #readPage(topic: Topic, after: number, restate: boolean): Promise<HistoryPage> {
    const limit = streamLimits.historyRowsPerPage;
    // Taken first: what is added while the page is read belongs to the next one.
    const end = this.endOf(topic);
    const found = await topic.channel.readAfter(after, { limit, restate });
    const entries = found.filter(({ seq }) => seq <= end);
    const isWhole = found.length < limit || entries.length < found.length;
    return { slices: slicesOf(entries), readTo: isWhole ? end : (entries.at(-1)?.seq ?? end) };
  }
}

function slicesOf(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  const slices: (readonly Entry[])[] = [];
  for (let rest = entries; rest.length > 0; ) {
    const slice = firstGroups(rest, streamLimits.historyRowsPerSlice);
    slices.push(slice);
    rest = rest.slice(slice.length);
  }
  return slices;
}
