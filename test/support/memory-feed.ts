import { randomUUID } from "node:crypto";
import { feedLimits } from "../../src/base/config/cluster-limits.ts";
import {
  type ActiveIndexer,
  type ChangeFeed,
  type FeedEntry,
  type FeedHead,
  type FeedMessage,
  type FeedPosition,
  type FeedTerm,
  type LinkedBlock,
} from "../../src/feed/cluster/change-feed.ts";

/** A feed within the process, for tests without Redis. A contract suite runs on it and on the real feed. */
export class MemoryFeed implements ChangeFeed {
  #epoch = randomUUID();
  #term = 0;
  #node = "";
  #newest: FeedPosition | null = null;
  #blocks: readonly LinkedBlock[] = [];
  #isWhole = false;
  #entries: FeedEntry[] = [];
  #waiting: (() => void)[] = [];

  async beginTerm(node: string): Promise<FeedTerm> {
    this.#term += 1;
    this.#node = node;
    const term = { epoch: this.#epoch, term: this.#term };
    this.#newest = { ...term, index: 0 };
    return term;
  }

  async append(term: FeedTerm, message: FeedMessage): Promise<FeedPosition> {
    const newest = this.#newest;
    if (newest?.term !== term.term || newest.epoch !== term.epoch)
      throw new Error("the term is stale");
    const position = { ...term, index: newest.index + 1 };
    this.#newest = position;
    this.#take(message);
    this.#entries.push({ position, message });
    this.#entries = this.#entries.slice(-feedLimits.messagesMax);
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

  async active(): Promise<ActiveIndexer | null> {
    return this.#newest && { node: this.#node, term: this.#newest.term };
  }

  async head(): Promise<FeedHead | null> {
    const newest = this.#newest;
    return newest && { newest, blocks: this.#blocks, isWhole: this.#isWhole };
  }

  /** Forgets everything, like a Redis that restarts. */
  empty(): void {
    this.#epoch = randomUUID();
    this.#term = 0;
    this.#newest = null;
    this.#blocks = [];
    this.#isWhole = false;
    this.#entries = [];
  }

  #take(message: FeedMessage): void {
    const keep = (isKept: (number: number) => boolean) =>
      this.#blocks.filter(({ block }) => isKept(block.number));
    if (message.kind === "status") this.#isWhole = true;
    if (message.kind === "revert") this.#blocks = keep((number) => number <= message.safeBlock);
    if (message.kind === "committed") this.#blocks = keep((number) => number > message.last.number);
    if (message.kind === "block") {
      this.#blocks = [...keep((number) => number < message.block.number), message];
    }
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
  return position.term === after.term ? position.index > after.index : position.term > after.term;
}
