import { randomUUID } from "node:crypto";
import { feedLimits } from "../../base/config/cluster-limits.ts";
import {
  type ChangeFeed,
  type FeedEnd,
  type FeedEntry,
  type FeedMessage,
  type FeedPosition,
  type FeedTerm,
  StaleTermError,
} from "./change-feed.ts";

/** A feed within the process. */
export class MemoryFeed implements ChangeFeed {
  #epoch = randomUUID();
  #term = 0;
  #start = 0;
  #entries: FeedEntry[] = [];
  #waiting: (() => void)[] = [];

  async beginTerm(node: string): Promise<FeedTerm> {
    this.#term += 1;
    const term = { epoch: this.#epoch, term: this.#term };
    this.#push({ position: { ...term, index: 1 }, message: { kind: "term", node } }, 0);
    return term;
  }

  async append(term: FeedTerm, message: FeedMessage, startIndex: number): Promise<FeedPosition> {
    const newest = this.#entries.at(-1)?.position;
    if (newest?.term !== term.term || newest.epoch !== term.epoch) throw new StaleTermError();
    const position = { ...term, index: newest.index + 1 };
    this.#push({ position, message }, startIndex);
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
    return newest === undefined ? null : { newest, start: { ...newest, index: this.#start } };
  }

  /** Forgets everything, as a Redis that restarts does. */
  empty(): void {
    this.#epoch = randomUUID();
    this.#term = 0;
    this.#entries = [];
  }

  #push(entry: FeedEntry, startIndex: number): void {
    this.#start = startIndex;
    this.#entries = [...this.#entries, entry].slice(-feedLimits.messagesKept);
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
