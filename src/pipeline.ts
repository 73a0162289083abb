/**
 * The whole walk on one page: a batch from the chain, its facts, the store, the state in memory.
 *
 * The order is fixed. Facts are durable before anyone is told of them; a fork takes back exactly
 * what was told; nothing final is ever touched again. Backfill and live are this same loop.
 */
import type { Log } from "./base/log.ts";
import type { ChainBatch } from "./chain/log.ts";
import type { LogDecoder } from "./decode/log-decoder.ts";
import { type BlockFacts, deriveBlockFacts } from "./market/block-facts.ts";
import type { MarketState } from "./market/market-state.ts";
import type { FactStore } from "./store/fact-store.ts";
import { FinalWriter } from "./store/final-writer.ts";

type BlocksBatch = Extract<ChainBatch, { kind: "blocks" }>;

/** Counters of what went through, since the process started. */
export type PipelineStatus = {
  fills: number;
  events: number;
  quarantined: number;
  anomalies: number;
  forks: number;
  /** The highest block the chain source knew of at its last batch; `null` before the first. */
  head: BlocksBatch["head"] | null;
};

export class Pipeline {
  readonly #decoder: LogDecoder;
  readonly #store: FactStore;
  readonly #state: MarketState;
  readonly #writer: FinalWriter;
  readonly #log: Log;
  readonly status: PipelineStatus = {
    fills: 0,
    events: 0,
    quarantined: 0,
    anomalies: 0,
    forks: 0,
    head: null,
  };

  constructor(parts: { decoder: LogDecoder; store: FactStore; state: MarketState; log: Log }) {
    this.#decoder = parts.decoder;
    this.#store = parts.store;
    this.#state = parts.state;
    this.#log = parts.log;
    this.#writer = new FinalWriter(parts.store, ({ last }, blocks) => {
      for (const block of blocks) this.#state.applyFinal(block);
      this.#state.moveTo(last.timestamp);
      for (const block of blocks) this.#count(block);
    });
  }

  /** Runs until the source ends or something fails that only a restart can mend. */
  async run(batches: AsyncIterable<ChainBatch>): Promise<void> {
    for await (const batch of batches) await this.#take(batch);
    await this.#writer.drain();
  }

  async #take(batch: ChainBatch): Promise<void> {
    if (batch.kind === "blocks") this.status.head = batch.head;
    if (batch.kind === "blocks" && batch.finalized) {
      const facts = batch.blocks.map((block) => deriveBlockFacts(block, this.#decoder));
      return this.#writer.write(batch, facts);
    }
    // Everything else builds on what is stored.
    await this.#writer.drain();
    switch (batch.kind) {
      case "blocks":
        return this.#hold(batch);
      case "fork":
        return this.#unwind(batch.safeBlock);
      case "finalized":
        return this.#finalize(batch.block);
    }
  }

  #hold(batch: BlocksBatch): void {
    const block = batch.blocks[0] ?? { ...batch.last, parentHash: null, logs: [] };
    const facts = deriveBlockFacts(block, this.#decoder);
    this.#store.tail.push(facts);
    this.#state.applyHeld(facts);
    this.#count(facts);
  }

  #unwind(safeBlock: number): void {
    const removed = this.#store.tail.unwindTo(safeBlock);
    const newest = this.#store.tail.newest ?? this.#store.coverage?.last;
    this.#state.unwindTo(safeBlock, newest?.timestamp ?? 0);
    this.status.forks += 1;
    this.#log.info({ safeBlock, blocks: removed.length }, "took back blocks of another fork");
  }

  async #finalize(block: number): Promise<void> {
    await this.#store.finalize(block);
    const last = this.#store.coverage?.last;
    if (last !== undefined) this.#state.settleThrough(last.number, last.timestamp);
  }

  #count(block: BlockFacts): void {
    this.status.fills += block.fills.length;
    this.status.events += block.events.length;
    this.status.quarantined += block.quarantined.length;
    this.status.anomalies += block.anomalies.length;
    for (const { seq, reason } of block.quarantined) {
      this.#log.error({ seq, reason }, "a log of our contracts could not be read; kept raw");
    }
    for (const { seq, kind } of block.anomalies) {
      this.#log.warn({ seq, kind }, "a match does not reconcile");
    }
  }
}
