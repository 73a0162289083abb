/**
 * The one loop that takes in changes, for backfill and live blocks alike. Final facts are durable before subscribers
 * see them. A reorg reverts exactly the blocks that were sent. Only a repair changes final facts, before this runs.
 */

import { assert } from "../base/assert.ts";
import { storeLimits } from "../base/config/limits.ts";
import { AppError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { KindCounts } from "../base/metrics/kind-counts.ts";
import { type Coverage, toTimedBlock } from "../chain/raw-log.ts";
import type { Contracts } from "../contracts/contracts.ts";
import type { BlockFacts } from "../market/block-facts.ts";
import { type Delta, toUnfinalizedDelta } from "../market/delta.ts";
import { FinalWriter } from "../storage/append/final-writer.ts";
import { type EncodedBatch, encodeFacts } from "../storage/codec/encode-facts.ts";
import { agreesWith, readDelta } from "../storage/read-delta.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import type { MarketState } from "../views/markets/market-state.ts";
import type { Change } from "./change.ts";

/** The receivers of changes. Called once a change is in the views and either durable or in the head buffer. */
export type Subscribers = {
  unfinalized(block: BlockFacts): void;
  /** Called before the views revert these blocks. */
  reverting(safeBlock: number, removed: readonly BlockFacts[]): void;
  appended(delta: Delta): void;
  finalized(blocks: readonly BlockFacts[]): void;
};

/** Counts of what the pipeline has taken in. */
export type PipelineStatus = Pipeline["status"];

export class Pipeline {
  readonly #facts: IndexedFacts;
  readonly #contracts: Contracts;
  /** `null` where another process writes. */
  readonly #writer: FinalWriter | null;
  readonly #subscribers: Subscribers | null;
  readonly #log: Log;
  /** The newest block of the head buffer that was given to the writer. */
  #finalThrough = -1;
  /** Whether ranges were given to the writer that are not known to be appended. */
  #hasRanges = false;
  /** Counts since the process started. Blocks that were reverted later stay counted. */
  readonly status = {
    fills: 0,
    /** The fills that are trades. */
    trades: 0,
    /** Events by kind. Fills are included as `order_filled`. */
    events: new KindCounts(),
    /** Logs that could not be read, by reason. */
    quarantined: new KindCounts(),
    anomalies: new KindCounts(),
    /** Rows of the ledger, by kind. */
    ledger: new KindCounts(),
  };

  constructor(parts: {
    facts: IndexedFacts;
    /** Loaded at the present coverage. From here on it follows changes like the views of the facts. */
    state: MarketState;
    subscribers?: Subscribers;
    log: Log;
    /** How long final blocks wait for later ones, to be appended together. One second by default. */
    groupWaitMs?: number;
  }) {
    this.#facts = parts.facts;
    this.#facts.addView(parts.state);
    this.#contracts = parts.state.directory.contracts;
    this.#subscribers = parts.subscribers ?? null;
    this.#log = parts.log;
    const { writer } = parts.facts;
    const waitMs = parts.groupWaitMs ?? storeLimits.groupWaitMs;
    const onAppended = (batch: Coverage, delta: Delta) => this.#cover(batch, delta);
    this.#writer = writer && new FinalWriter(writer, { onAppended, waitMs });
  }

  /** Runs until the source ends. Throws errors that only a restart can repair. */
  async run(changes: AsyncIterable<Change>): Promise<void> {
    const iterator = changes[Symbol.asyncIterator]();
    for (;;) {
      const next = iterator.next();
      // Blocks that became final are appended while further changes are taken in: that takes longer than a client should
      // wait for a block. A failure ends the run, even while no changes come.
      if (!this.#hasRanges) await Promise.race([next, this.#writer?.drain()]);
      const one = await next;
      if (one.done === true) break;
      await this.#take(one.value);
    }
    await this.#writer?.drain();
  }

  async #take(change: Change): Promise<void> {
    if (change.kind === "range") {
      this.#hasRanges = true;
      return this.#write(change.batch, change);
    }
    // All other changes build on the appended ranges.
    if (this.#hasRanges) await this.#writer?.drain();
    this.#hasRanges = false;
    switch (change.kind) {
      case "block":
        return this.#hold(change.block);
      case "revert":
        return this.#revert(change.safeBlock);
      case "finalized":
        return this.#finalize(change.block);
      case "committed":
        return this.#follow(change.range);
    }
  }

  async #follow(range: Coverage): Promise<void> {
    const { fromBlock, last } = range;
    const read = await this.#readCommitted(range);
    if (read === null) return;
    if (!read.isAgreed) this.#revert(fromBlock - 1);
    if (read.newest !== null) this.#cover({ fromBlock, last: toTimedBlock(read.newest) });
    if (read.rest !== null) this.#cover({ fromBlock, last }, read.rest);
  }

  /**
   * Compares a committed range with the head buffer: whether they agree, the newest committed block of the buffer, and
   * the delta of the blocks after it. `null` when the store does not answer: the range comes again.
   */
  async #readCommitted(range: Coverage) {
    const { headBuffer, engine } = this.#facts;
    const { fromBlock, last } = range;
    try {
      const isAgreed = await agreesWith(engine, headBuffer.blocks, last);
      const newest = isAgreed ? (headBuffer.through(last.number).at(-1) ?? null) : null;
      const unread = { fromBlock: newest === null ? fromBlock : newest.number + 1, last };
      const rest = await readDelta(engine, unread, this.#contracts);
      return { isAgreed, newest, rest };
    } catch (thrown) {
      if (!(thrown instanceof AppError)) throw thrown;
      this.#log.debug({ err: thrown }, "committed range could not be read; retrying");
      return null;
    }
  }

  async #write(batch: EncodedBatch, { more }: { readonly more: boolean }): Promise<void> {
    assert(this.#writer !== null, "final blocks come to the process that writes");
    await this.#writer.write(batch, { more });
  }

  /**
   * Gives the blocks of the head buffer up to and including `toBlock` to the writer, which appends them like a range.
   */
  async #finalize(toBlock: number): Promise<void> {
    const finalThrough = this.#finalThrough;
    const final = this.#facts.headBuffer
      .through(toBlock)
      .filter(({ number }) => number > finalThrough);
    const [first, last] = [final[0], final.at(-1)];
    if (first === undefined || last === undefined) return;
    this.#finalThrough = last.number;
    const range = { fromBlock: first.number, last: toTimedBlock(last) };
    await this.#write(encodeFacts(range, final), { more: false });
  }

  /** Covers stored blocks: those of the head buffer, or others, which the views get as a delta. */
  #cover(range: Coverage, delta: Delta | null = null): void {
    const buffered = this.#facts.headBuffer.through(range.last.number);
    this.#facts.cover(range);
    if (buffered.length > 0) return this.#subscribers?.finalized(buffered);
    assert(delta !== null, "the views have the blocks of the head buffer only");
    this.#facts.apply(delta);
    this.#count(delta);
    this.#subscribers?.appended(delta);
  }

  async #hold(block: BlockFacts): Promise<void> {
    await this.#facts.store.reorgs.reserve(block.number);
    const delta = toUnfinalizedDelta(block);
    this.#facts.apply(delta);
    this.#count(delta);
    this.#subscribers?.unfinalized(block);
  }

  #revert(safeBlock: number): void {
    const { headBuffer, newestBlock, store } = this.#facts;
    store.reorgs.add({ from: safeBlock + 1, to: newestBlock ?? safeBlock });
    const removed = headBuffer.above(safeBlock);
    this.#subscribers?.reverting(safeBlock, removed);
    this.#facts.revert(safeBlock);
    this.#log.info(
      { safeBlock, ...toLogFields(removed) },
      "reorg: reverted the facts of replaced blocks",
    );
  }

  #count({ events, trades, tally }: Delta): void {
    const { status } = this;
    status.fills += tally.fills;
    status.trades += trades.length;
    if (tally.fills > 0) status.events.add("order_filled", tally.fills);
    for (const { event } of events) status.events.add(event.kind);
    for (const [kind, rows] of Object.entries(tally.ledgerKinds)) status.ledger.add(kind, rows);
    for (const { seq, reason } of tally.quarantined) {
      status.quarantined.add(reason);
      this.#log.error({ seq, reason }, "log could not be decoded; stored in quarantine");
    }
    for (const { seq, kind } of tally.anomalies) {
      status.anomalies.add(kind);
      this.#log.warn({ seq, kind }, "match does not reconcile; stored and counted as an anomaly");
    }
  }
}

/** The fields of the log line about a reorg: counts, and the first and last block, by which to look it up. */
function toLogFields(removed: readonly BlockFacts[]) {
  const names = removed.map(({ number, hash }) => `${number} ${hash}`);
  return {
    blocks: removed.length,
    first: names[0],
    last: names.at(-1),
    fills: removed.reduce((sum, block) => sum + block.fills.length, 0),
    events: removed.reduce((sum, block) => sum + block.events.length, 0),
  };
}
