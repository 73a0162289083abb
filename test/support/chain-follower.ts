import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import type { Block, BlockInterval, ChainBatch, TimedBlock } from "../../src/chain/raw-log.ts";
import type { ChainSource } from "../../src/chain/sync/chain-source.ts";
import type { RpcLog, ScriptedBlock } from "./scripted-block.ts";
import { waitMsMax } from "./wait-for.ts";

/**
 * Consumes a chain source, stores its blocks and asserts the contract: no gaps, no repeats, reorgs above finality only,
 * finality that never decreases, and more final blocks after a batch that announced them.
 */
export class ChainFollower {
  /** Blocks with logs, by number. */
  readonly blocks = new Map<number, Block>();
  readonly forks: number[] = [];
  tip = -1;
  /** `null` right after a revert, which does not contain the hash of the tip. */
  tipHash: string | null = null;
  finalized = -1;
  /** Why the source ended; `null` while it runs, or after a close. */
  failure: unknown = null;
  isOver = false;
  readonly #first: number | null;
  /** Whether the newest batch announced more final blocks. */
  #isMoreDue = false;

  /** `first` is the first block that the source must send; `null` accepts any. */
  constructor(source: ChainSource, first: number | null, resumeAfter: TimedBlock | null = null) {
    this.#first = first;
    void this.#follow(source.batches({ resumeAfter, rangeEnds: [] }));
  }

  /** Resolves once `condition` holds; fails after `waitMsMax`. */
  async until(condition: (follower: this) => boolean): Promise<void> {
    const giveUpAt = performance.now() + waitMsMax;
    while (!condition(this)) {
      const state = `tip ${this.tip}, finalized ${this.finalized}, failure ${String(this.failure)}`;
      assert(performance.now() < giveUpAt, `it did not come to ${String(condition)}: ${state}`);
      await delay(2);
    }
  }

  async untilTip(number: number): Promise<void> {
    await this.until(({ tip }) => tip === number);
  }

  /** Asserts that the logs sent up to the tip are exactly the wanted logs of `chain`. */
  assertEquals(chain: readonly ScriptedBlock[], isRequested: (log: RpcLog) => boolean): void {
    const reported = [...this.blocks.values()].toSorted((one, other) => one.number - other.number);
    const logs = reported.flatMap((block) =>
      block.logs.map((log) => [block.timestamp, log] as const),
    );
    const seen = logs.map(([time, log]) => [log.blockHash, log.txHash, log.logIndex, time]);
    const first = this.#first ?? 0;
    const expected = chain
      .filter(({ number }) => number >= first && number <= this.tip)
      .flatMap(({ logs, timestamp }) =>
        logs
          .filter(isRequested)
          .map((log) => [log.blockHash, log.transactionHash, Number(log.logIndex), timestamp]),
      );
    assert.deepEqual(seen, expected);
  }

  async #follow(batches: AsyncIterable<ChainBatch>): Promise<void> {
    try {
      for await (const batch of batches) this.#take(batch);
    } catch (thrown) {
      this.failure = thrown;
    }
    this.isOver = true;
  }

  #take(batch: ChainBatch): void {
    const isFinal = batch.kind === "range";
    assert(isFinal || !this.#isMoreDue, "final blocks follow where that was said");
    this.#isMoreDue = isFinal && batch.more;
    switch (batch.kind) {
      case "range":
        this.#takeRange(batch);
        this.finalized = batch.last.number;
        return;
      case "block": {
        const { number } = batch.block;
        const blocks = batch.block.logs.length > 0 ? [batch.block] : [];
        this.#takeRange({ fromBlock: number, last: batch.block, blocks });
        return;
      }
      case "revert":
        assert(batch.safeBlock >= this.finalized, "a fork never reaches below finality");
        assert(batch.safeBlock < this.tip, "a fork takes something back");
        for (const number of this.blocks.keys()) {
          if (number > batch.safeBlock) this.blocks.delete(number);
        }
        this.forks.push(batch.safeBlock);
        this.tip = batch.safeBlock;
        this.tipHash = null;
        return;
      case "finalized":
        assert(batch.block > this.finalized && batch.block <= this.tip, "finality rises");
        this.finalized = batch.block;
    }
  }

  #takeRange(batch: BlockInterval): void {
    if (this.tip !== -1) assert.equal(batch.fromBlock, this.tip + 1, "there is no gap");
    else if (this.#first !== null) assert.equal(batch.fromBlock, this.#first);
    assert(batch.last.number >= batch.fromBlock);
    let previous = batch.fromBlock - 1;
    for (const block of batch.blocks) {
      assert(block.number > previous && block.number <= batch.last.number && block.logs.length > 0);
      previous = block.number;
      this.blocks.set(block.number, block);
    }
    this.tip = batch.last.number;
    this.tipHash = batch.last.hash;
  }
}
