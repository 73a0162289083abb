import { setImmediate as turn } from "node:timers/promises";
import { allEnded } from "../base/all-ended.ts";
import { storeLimits } from "../base/limits.ts";
import type { Digest } from "../market/digest.ts";
import { decodeDigest } from "./decode-digest.ts";
import { type EncodedBatch, releaseRows } from "./encode-facts.ts";
import type { FactStore } from "./fact-store.ts";

/** Told what of the blocks memory needs, and where they end. */
type OnAppended = (digest: Digest, last: EncodedBatch["last"]) => void;

/** What is appended together: batches that follow each other. */
type Group = readonly EncodedBatch[];

/**
 * Appends final blocks by group commit: what arrives while an append is under way is appended
 * together by the next one. An append costs some fsyncs whatever its size, so nodes that allow
 * only small ranges would otherwise be waiting for the disk. While one group is vouched for, the
 * facts of the next one are already written, and memory takes in the one before.
 */
export class FinalWriter {
  readonly #store: FactStore;
  readonly #onAppended: OnAppended;
  #pending: EncodedBatch[] = [];
  #pendingRows = 0;
  #taken = Promise.withResolvers<void>();
  #writing: Promise<void> | null = null;

  /** `onAppended` is called in chain order, each time once the blocks are durable. */
  constructor(store: FactStore, onAppended: OnAppended) {
    this.#store = store;
    this.#onAppended = onAppended;
  }

  /**
   * Takes the blocks that follow, whose rows are gone when they were told of. Resolves at once while there is room, else when there is; rejects
   * with what an earlier append failed of.
   */
  async write(batch: EncodedBatch): Promise<void> {
    this.#pending.push(batch);
    this.#pendingRows += rowsOf(batch);
    this.#writing ??= this.#writeAll();
    const { pendingRowsMax, pendingBatchesMax } = storeLimits;
    const isFull = this.#pendingRows >= pendingRowsMax || this.#pending.length >= pendingBatchesMax;
    // A failed append must reach the caller even when there is always room.
    await Promise.race([this.#writing, isFull ? this.#taken.promise : Promise.resolve()]);
  }

  /** Resolves when everything taken is durable. */
  async drain(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    let written: Group = [];
    let vouched: Group = [];
    do {
      const group = this.#take();
      // The store will be closed after a failure, with nothing under way.
      await allEnded([this.#writeFacts(group), this.#vouchFor(written), this.#cover(vouched)]);
      [written, vouched] = [group, written];
    } while (written.length > 0 || vouched.length > 0 || this.#pending.length > 0);
    this.#writing = null;
  }

  #take(): Group {
    const group = this.#pending;
    this.#pending = [];
    this.#pendingRows = 0;
    this.#taken.resolve();
    this.#taken = Promise.withResolvers();
    return group;
  }

  async #writeFacts(group: Group): Promise<void> {
    if (group.length > 0) await this.#store.writeFacts(group);
  }

  async #vouchFor(group: Group): Promise<void> {
    if (group.length > 0) await this.#store.vouchFor(group);
  }

  /** Memory takes in a batch in one go; requests have their turn in between. */
  async #cover(group: Group): Promise<void> {
    for (const batch of group) {
      const digest = decodeDigest(batch);
      this.#store.cover(batch, digest);
      this.#onAppended(digest, batch.last);
      releaseRows(batch);
      await turn();
    }
  }
}

function rowsOf({ tally }: EncodedBatch): number {
  return tally.fills + tally.events + tally.quarantined.length;
}
