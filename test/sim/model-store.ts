import assert from "node:assert/strict";
import type { TimedBlock } from "../../src/chain/raw-log.ts";
import type { ChainChange } from "../../src/feed/change.ts";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import type { BatchRows, EncodedBatch } from "../../src/storage/codec/encode-facts.ts";
import { encode } from "../support/store-chain.ts";

/**
 * The minimal model of a store: rows that are only ever added, and unfinalized blocks that a crash
 * loses. It asserts the contract of the changes: no gaps, and nothing final is reverted.
 */
export class ModelStore {
  readonly #appended: BatchRows[] = [];
  #tail: readonly BlockFacts[] = [];
  #last: TimedBlock | null = null;
  #next: number;
  readonly counts = { range: 0, block: 0, revert: 0, finalized: 0 };

  constructor(startBlock: number) {
    this.#next = startBlock;
  }

  /** The block after which a new process resumes. */
  get resumeAfter(): TimedBlock | null {
    return this.#last;
  }

  get newest(): TimedBlock | null {
    return this.#tail.at(-1) ?? this.#last;
  }

  get finalized(): number {
    return this.#last?.number ?? -1;
  }

  take(change: ChainChange): void {
    this.counts[change.kind] += 1;
    switch (change.kind) {
      case "range":
        assert.equal(this.#tail.length, 0, "nothing final comes while blocks are held");
        return this.#append(change.batch);
      case "block":
        assert.equal(change.block.number, this.#next + this.#tail.length, "there is no gap");
        this.#tail = [...this.#tail, change.block];
        return;
      case "revert":
        assert(change.safeBlock >= this.#next - 1, "nothing final is reverted");
        assert(change.safeBlock < this.#newestNumber, "a fork takes something back");
        this.#tail = this.#tail.filter(({ number }) => number <= change.safeBlock);
        return;
      case "finalized":
        assert(change.block >= this.#next && change.block <= this.#newestNumber, "finality rises");
        this.#append(encode(this.#tail.filter(({ number }) => number <= change.block)));
        this.#tail = this.#tail.filter(({ number }) => number > change.block);
    }
  }

  /** Loses everything that is not durable. */
  crash(): void {
    this.#tail = [];
  }

  /** Asserts that the rows and the unfinalized blocks are those of the chain. */
  assertEquals(final: readonly BlockFacts[], held: readonly BlockFacts[]): void {
    assert.equal(this.#last?.hash, final.at(-1)?.hash, "the last final block");
    const expected = encode(final).rows;
    for (const table of ["fills", "events", "quarantine"] as const) {
      const reported = Buffer.concat(this.#appended.map((rows) => rows[table]));
      if (reported.equals(expected[table])) continue;
      assert.deepEqual(toLines(reported), toLines(expected[table]), table);
    }
    assert.deepEqual(this.#tail, held);
  }

  get #newestNumber(): number {
    return this.#next - 1 + this.#tail.length;
  }

  #append(batch: EncodedBatch): void {
    assert.equal(batch.fromBlock, this.#next, "there is no gap");
    this.#appended.push(batch.rows);
    this.#last = batch.last;
    this.#next = batch.last.number + 1;
  }
}

function toLines(rows: Uint8Array): string[] {
  return Buffer.from(rows).toString().split("\n");
}
