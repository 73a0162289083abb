import { closeOnError } from "../base/close-on-error.ts";
import { type Hash, toLastSeq } from "../base/ids.ts";
import type { Coverage } from "../chain/raw-log.ts";
import type { Delta } from "../market/delta.ts";
import { FactStore, type StoreOptions } from "../storage/append/fact-store.ts";
import type { ReorgLog } from "../storage/append/reorg-log.ts";
import type { CoveredFacts } from "../storage/covered-facts.ts";
import { openFolder } from "../storage/embedded/open-folder.ts";
import type { Engine, OpenEngine } from "../storage/engine/engine.ts";
import { readFirstTimestamp } from "../storage/recovery/recover.ts";
import { dropMarketsFile } from "./disk/markets-file.ts";
import { HeadBuffer } from "./head/head-buffer.ts";
import { QueryReads } from "./query-reads.ts";
import type { View } from "./view.ts";

/** Time in Unix seconds. */
type FirstBlock = { readonly number: number; readonly timestamp: number };

/** How long a request waits for a position that is not indexed yet, and how many requests can wait. */
type WaitLimits = { readonly positionWaitMs: number; readonly positionWaitersMax: number };

/**
 * All indexed facts: the stored ones up to the end of `coverage`, and above it the unfinalized blocks in the head
 * buffer. Reads see them as one. The views derive from both.
 */
export class IndexedFacts {
  readonly store: CoveredFacts;
  /** The store that facts are appended to; `null` when another process appends them. */
  readonly writer: FactStore | null;
  readonly reads = new QueryReads();
  readonly headBuffer = new HeadBuffer();
  /** In the order in which they receive changes. */
  readonly #views = new Set<View>([this.headBuffer]);
  readonly #waiting = new Set<() => void>();
  /** Unix seconds; `null` before the first block. */
  #firstTimestamp: number | null = null;

  private constructor(store: CoveredFacts, writer: FactStore | null) {
    this.store = store;
    this.writer = writer;
  }

  /** Opens the store, in the data directory unless an engine is given, and loads the views. */
  static async open(
    dataDir: string,
    openEngine: OpenEngine = openFolder,
    options: Omit<StoreOptions, "dropCopies"> = {},
  ): Promise<IndexedFacts> {
    const dropCopies = () => dropMarketsFile(dataDir);
    const opened = await openEngine(dataDir);
    const store = await FactStore.open(opened, { dropCopies, ...options });
    return IndexedFacts.load(store, store);
  }

  /** Loads the views over a store. `close` closes the store, and so does a failure to load. */
  static async load(store: CoveredFacts, writer: FactStore | null = null): Promise<IndexedFacts> {
    const facts = new IndexedFacts(store, writer);
    await closeOnError(store, async () => {
      await facts.loadView(facts.headBuffer);
      facts.#firstTimestamp = await readFirstTimestamp(store);
    });
    return facts;
  }

  async loadView(view: View): Promise<void> {
    const { coverage } = this;
    if (coverage !== null) await view.load(this.store, coverage);
  }

  /** Adds a view that was loaded at the current coverage. From now on it receives changes like the others. */
  addView(view: View): void {
    this.#views.add(view);
  }

  get engine(): Engine {
    return this.store.engine;
  }

  get reorgs(): ReorgLog {
    return this.store.reorgs;
  }

  /** The hash of the last block of the coverage or of an unfinalized block; `null` for other blocks. */
  hashAt(number: number): Hash | null {
    if (this.coverage?.last.number === number) return this.coverage.last.hash;
    return this.headBuffer.blocks.find((block) => block.number === number)?.hash ?? null;
  }

  get coverage(): Coverage | null {
    return this.store.coverage;
  }

  /** The first block indexed, and its time or that of the first row in it or after it; `null` before the first. */
  get first(): FirstBlock | null {
    const number = this.coverage?.fromBlock ?? this.headBuffer.blocks[0]?.number;
    const timestamp = this.#firstTimestamp;
    return number === undefined || timestamp === null ? null : { number, timestamp };
  }

  /** The number of the newest block indexed, final or not; `null` before the first. */
  get newestBlock(): number | null {
    return this.headBuffer.newest?.number ?? this.coverage?.last.number ?? null;
  }

  /** The last position of the newest block indexed; -1 before the first. */
  get newestSeq(): number {
    return this.newestBlock === null ? -1 : toLastSeq(this.newestBlock);
  }

  /** Whether everything through a position is indexed, or a reorg has replaced it after a client saw it. */
  hasReached(position: number): boolean {
    if (position <= Math.max(this.newestSeq, 0)) return true;
    return this.reorgs.certainPosition(position) !== position;
  }

  /** Waits for a position, at most for a time, and not at all when too many wait. Resolves to whether it is reached. */
  async whenReached(position: number, limits: WaitLimits): Promise<boolean> {
    if (this.#waiting.size >= limits.positionWaitersMax) return this.hasReached(position);
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = () => {
      if (this.hasReached(position)) resolve();
    };
    const timer = setTimeout(resolve, limits.positionWaitMs);
    this.#waiting.add(check);
    check();
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(check);
    return this.hasReached(position);
  }

  apply(delta: Delta): void {
    this.#firstTimestamp ??= firstTimestampIn(delta);
    for (const view of this.#views) view.apply(delta);
    for (const check of this.#waiting) check();
  }

  revert(toBlock: number): void {
    for (const view of this.#views) view.revert(toBlock);
    if (this.newestBlock === null) this.#firstTimestamp = null;
  }

  /** Makes reads take the rows of a range, which is now stored, from the store instead of the head buffer. */
  cover(range: Coverage): void {
    // Synchronous: a read must see each row in the engine or in the head buffer, never in both.
    this.store.cover(range);
    for (const view of this.#views) view.finalize(range.last.number);
  }

  async close(): Promise<void> {
    await this.store.close();
  }
}

/** Returns the time of the first row of blocks, or of the last block when they have no rows. */
function firstTimestampIn({ block, trades, events, last }: Delta): number {
  if (block !== null) return block.timestamp;
  const rows = [trades[0], events[0]].flatMap((row) => row?.timestamp ?? []);
  return Math.min(last.timestamp, ...rows);
}
