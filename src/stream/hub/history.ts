import { streamLimits } from "../../base/config/limits.ts";
import { WakeSignal } from "../../base/time/wake-signal.ts";
import { type Channel, type Entry, firstGroups, pageAfter } from "./channel.ts";
import type { Topic } from "./topic.ts";

/** The entries after a position, in slices that are sent one by one. The page is complete up to `readTo`. */
export type HistoryPage = {
  readonly slices: readonly (readonly Entry[])[];
  readonly readTo: number;
};

/** The end of the log, and its recent pages by topic. Clients that read the same range share a page. */
export class History {
  /** The last indexed and the last final position; -1 before the first. */
  latest: number;
  final: number;
  /** The number of reorgs so far. Pages that were read during a reorg are discarded. */
  reorgs = 0;
  readonly #pages = new Map<string, Promise<HistoryPage>>();
  readonly #change = new WakeSignal();
  #readsUnderWay = 0;
  /** Reads that wait for their turn, at most one of each subscription. */
  readonly #waiting: (() => void)[] = [];

  constructor(latest: number, final: number) {
    this.latest = latest;
    this.final = final;
  }

  getEnd({ isFinalOnly }: Channel): number {
    return isFinalOnly ? this.final : this.latest;
  }

  /**
   * Runs a read when few others are under way, first come, first served. The store refuses queries when many wait for
   * it, and thousands of clients can resume at the same moment.
   */
  async inTurn<Result>(read: () => Promise<Result>): Promise<Result> {
    if (this.#readsUnderWay < streamLimits.historyReadsAtOnceMax) this.#readsUnderWay += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await read();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#readsUnderWay -= 1;
      else next();
    }
  }

  /** Reads a page of the entries after a position. `restate` is passed to the channel. */
  read(topic: Topic, after: number, restate: boolean): Promise<HistoryPage> {
    const name = `${topic.id} ${after} ${restate}`;
    const cached = this.#pages.get(name);
    if (cached !== undefined) return cached;
    const page = this.#readPage(topic, after, restate);
    this.#pages.set(name, page);
    // A failed read is not cached: the next client reads again.
    page.catch(() => this.#pages.delete(name));
    // A Map keeps the order of insertion, so the first key is the oldest.
    const [oldest] = this.#pages.keys();
    if (this.#pages.size > streamLimits.historyPagesKept && oldest !== undefined) {
      this.#pages.delete(oldest);
    }
    return page;
  }

  async whenChanged(): Promise<void> {
    await this.#change.next();
  }

  /** Drops the cached pages and wakes what waits. Called after anything is indexed, finalized or reverted. */
  changed(): void {
    this.#pages.clear();
    this.#change.notify();
  }

  async #readPage(topic: Topic, after: number, restate: boolean): Promise<HistoryPage> {
    const limit = streamLimits.historyRowsPerPage;
    // Taken first: entries that are added during the read belong to the next page.
    const end = this.getEnd(topic.channel);
    const found = await topic.channel.read({ ...pageAfter(after, limit), restate });
    const entries = found.filter(({ seq }) => seq <= end);
    const isWhole = found.length < limit || entries.length < found.length;
    return { slices: toSlices(entries), readTo: isWhole ? end : (entries.at(-1)?.seq ?? end) };
  }
}

function toSlices(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  const slices: (readonly Entry[])[] = [];
  for (let rest = entries; rest.length > 0; ) {
    const slice = firstGroups(rest, streamLimits.historyRowsPerSlice);
    slices.push(slice);
    rest = rest.slice(slice.length);
  }
  return slices;
}
