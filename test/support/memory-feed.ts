import { randomUUID } from "node:crypto";
import { feedLimits } from "../../src/base/config/cluster-limits.ts";
import {
  type ChangeFeed,
  type FeedEnd,
  type FeedEntry,
  type FeedMessage,
  type FeedPosition,
  type FeedTerm,
} from "../../src/feed/cluster/change-feed.ts";

/** A feed within the process, for tests without Redis. A contract suite runs on it and on the real feed. */
export class MemoryFeed implements ChangeFeed {
  #epoch = randomUUID();
  #term = 0;
  #node: string | null = null;
  #start: FeedPosition | null = null;
  #entries: FeedEntry[] = [];
  #waiting: (() => void)[] = [];

  async beginTerm(node: string): Promise<FeedTerm> {
    this.#term += 1;
    this.#node = node;
    const term = { epoch: this.#epoch, term: this.#term };
    this.#start ??= { ...term, index: 0 };
    this.#entries.push({ position: { ...term, index: 1 }, message: { kind: "term", node } });
    this.#wake();
    return term;
  }

  async append(
    term: FeedTerm,
    message: FeedMessage,
    startIndex: number | null,
  ): Promise<FeedPosition> {
    const newest = this.#entries.at(-1)?.position;
    if (newest?.term !== term.term || newest.epoch !== term.epoch)
      throw new Error("the term is stale");
    const position = { ...term, index: newest.index + 1 };
    if (startIndex !== null) this.#start = { ...term, index: startIndex };
    this.#entries.push({ position, message });
    this.#entries = this.#entries.slice(-feedLimits.messagesKept);
    this.#wake();
    return position;
  }

  async read(after: FeedPosition, waitMs: number): Promise<readonly FeedEntry[]> {
    const found = this.#behind(after);
    if (found.length > 0 || waitMs === 0) return found;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, waitMs);
    this.#waiting.push(resolve);
    await promise;
    clearTimeout(timer);
    return this.#behind(after);
  }

  async end(): Promise<FeedEnd | null> {
    const newest = this.#entries.at(-1)?.position;
    if (newest === undefined || this.#start === null) return null;
    return { newest, start: this.#start, node: this.#node };
  }

  /** Forgets everything, like a Redis that restarts. */
  empty(): void {
    this.#epoch = randomUUID();
    this.#term = 0;
    this.#start = null;
    this.#entries = [];
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  #behind(after: FeedPosition): readonly FeedEntry[] {
    const found = this.#entries.filter(({ position }) => isBehind(position, after));
    return found.slice(0, feedLimits.messagesReadMax);
  }
}

function isBehind(position: FeedPosition, after: FeedPosition): boolean {
  if (position.epoch !== after.epoch) return true;
  return position.term === after.term ? position.index > after.index : position.term > after.term;
}
