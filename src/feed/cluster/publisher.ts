import { feedLimits } from "../../base/config/cluster-limits.ts";
import { toError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { systemClock as clock } from "../../base/time/clock.ts";
import { WakeSignal } from "../../base/time/wake-signal.ts";
import type { TimedBlock } from "../../chain/raw-log.ts";
import type { BlockFacts } from "../../market/block-facts.ts";
import { agreesWith } from "../../storage/read-delta.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";
import type { Subscribers } from "../pipeline.ts";
import type { ChangeFeed, FeedMessage, FeedTerm, IndexerStatus } from "./change-feed.ts";
import type { Lease } from "./lease.ts";

type PublisherParts = {
  readonly feed: ChangeFeed;
  readonly lease: Pick<Lease, "tryAcquire">;
  readonly facts: IndexedFacts;
  readonly node: string;
  readonly readStatus: () => Omit<IndexerStatus, "node">;
  readonly log: Log;
};

/**
 * Publishes the changes of the active indexer to the feed, in order. When a message cannot be sent, all waiting
 * messages are dropped. A new term then sends the unfinalized blocks that the feed does not have.
 */
export class Publisher implements Subscribers {
  readonly #parts: PublisherParts;
  /** Unfinalized blocks that earlier terms sent, by number, and that are not compared yet. */
  #sent = new Map<number, BlockFacts>();
  readonly #closing = new AbortController();
  #term: FeedTerm | null = null;
  #newestTerm: number | null = null;
  #queue: FeedMessage[] = [];
  readonly #wake = new WakeSignal();
  #running: Promise<void> = Promise.resolve();
  #statusDueMs = 0;

  constructor(parts: PublisherParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** The number of the newest term, which may have ended; `null` before the first. */
  get term(): number | null {
    return this.#newestTerm;
  }

  unfinalized(block: BlockFacts): void {
    if (this.#compare(block)) return;
    this.#push({ kind: "block", parentHash: this.#parts.facts.hashAt(block.number - 1), block });
  }

  reverting(safeBlock: number): void {
    this.#replace(safeBlock + 1);
    this.#push({ kind: "revert", safeBlock });
  }

  appended(): void {
    this.#committed();
  }

  finalized(): void {
    this.#committed();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  #committed(): void {
    const { coverage } = this.#parts.facts;
    if (coverage !== null) this.#push({ kind: "committed", last: coverage.last });
  }

  /**
   * Compares an unfinalized block with the one that nodes have at its number. Returns whether they have the same. If
   * they have another, they revert it.
   */
  #compare({ number, hash }: BlockFacts): boolean {
    const existing = this.#sent.get(number);
    if (existing?.hash === hash) {
      for (const at of this.#sent.keys()) if (at <= number) this.#sent.delete(at);
      return true;
    }
    if (existing !== undefined) this.reverting(number - 1);
    return false;
  }

  /** Compares blocks that nodes have with committed ones. Returns the block to revert to if they differ, else `null`. */
  async #compareStored(last: TimedBlock): Promise<number | null> {
    const blocks = [...this.#sent.values()].filter(({ number }) => number <= last.number);
    const [first] = blocks;
    if (first === undefined) return null;
    const isSame = await agreesWith(this.#parts.facts.engine, blocks, last);
    if (!isSame) this.#replace(first.number);
    for (const block of blocks) this.#sent.delete(block.number);
    return isSame ? null : first.number - 1;
  }

  /** Records that the blocks of nodes from `from` on are replaced. */
  #replace(from: number): void {
    const replaced = [...this.#sent.keys()].filter((number) => number >= from);
    if (replaced.length === 0) return;
    this.#parts.facts.reorgs.add({ from, to: Math.max(...replaced) });
    for (const number of replaced) this.#sent.delete(number);
  }

  #push(message: FeedMessage): void {
    // Without a term nothing is lost: the next term begins with all blocks that the feed lacks.
    if (this.#term === null) return;
    this.#queue.push(message);
    if (this.#queue.length > feedLimits.messagesWaitingMax) this.#giveUp();
    this.#wake.notify();
  }

  #giveUp(): void {
    this.#term = null;
    this.#queue = [];
  }

  async #run(): Promise<void> {
    const { log } = this.#parts;
    while (!this.#closing.signal.aborted) {
      try {
        if (this.#term === null) await this.#begin();
        else await this.#sendNext(this.#term);
      } catch (thrown) {
        this.#giveUp();
        log.warn(
          { err: toError(thrown) },
          "change feed could not be written; serving nodes fall behind; retrying",
        );
        await clock.sleep(feedLimits.retryMs, this.#closing.signal).catch(() => {});
      }
    }
  }

  async #begin(): Promise<void> {
    const { feed, lease, facts, node, log } = this.#parts;
    if (!(await lease.tryAcquire())) {
      await clock.sleep(feedLimits.retryMs, this.#closing.signal).catch(() => {});
      return;
    }
    const term = await feed.beginTerm(node);
    const head = await feed.head();
    this.#sent = new Map(head?.blocks.map(({ block }) => [block.number, block]));
    this.#term = term;
    this.#newestTerm = term.term;
    this.#queue = [];
    this.#committed();
    for (const block of facts.headBuffer.blocks) this.unfinalized(block);
    log.info({ term: term.term, node }, "became the active indexer");
  }

  async #sendNext(term: FeedTerm): Promise<void> {
    const message = await this.#nextMessage();
    if (message === null) return;
    if (message.kind === "committed") {
      const safeBlock = await this.#compareStored(message.last);
      if (safeBlock !== null) await this.#append(term, { kind: "revert", safeBlock });
    }
    await this.#append(term, message);
  }

  async #append(term: FeedTerm, message: FeedMessage): Promise<void> {
    // The reorg has to be durable first: a starting node must find it in the store or in the feed.
    if (message.kind === "revert") await this.#parts.facts.reorgs.pendingWrites;
    await this.#parts.feed.append(term, message);
  }

  async #nextMessage(): Promise<FeedMessage | null> {
    const { node, readStatus } = this.#parts;
    const { version } = this.#wake;
    const next = this.#queue.shift();
    if (next !== undefined) return next;
    const waitMs = this.#statusDueMs - clock.monotonicMs();
    if (waitMs <= 0) {
      this.#statusDueMs = clock.monotonicMs() + feedLimits.statusEveryMs;
      return { kind: "status", status: { node, ...readStatus() } };
    }
    const { signal } = this.#closing;
    await this.#wake.wait(version, waitMs, { clock, signal }).catch(() => {});
    return null;
  }
}
