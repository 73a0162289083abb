import { setImmediate as turn } from "node:timers/promises";
import { storeLimits } from "../base/limits.ts";
import type { Digest } from "../market/digest.ts";
import { decodeDigest } from "./decode-digest.ts";
import type { EncodedBatch } from "./encode-facts.ts";
import type { FactStore } from "./fact-store.ts";

/** Told what of the blocks memory needs, and where they end. */
type OnAppended = (digest: Digest, last: EncodedBatch["last"]) => void;

/**
 * Appends final blocks by group commit: what arrives while an append is under way is appended
 * together by the next one. An append costs some fsyncs whatever its size, so nodes that allow
 * only small ranges would otherwise be waiting for the disk. While one group is vouched for, the
 * fills of the next one are already written.
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
   * Takes the blocks that follow. Resolves at once while there is room, else when there is; rejects
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
    let before: readonly EncodedBatch[] = [];
    do {
      const group = this.#take();
      // Neither is under way any more when the other has failed: the store will be closed then.
      const steps = await Promise.allSettled([this.#writeFills(group), this.#complete(before)]);
      for (const step of steps) if (step.status === "rejected") throw step.reason;
      before = group;
    } while (before.length > 0 || this.#pending.length > 0);
    this.#writing = null;
  }

  #take(): readonly EncodedBatch[] {
    const group = this.#pending;
    this.#pending = [];
    this.#pendingRows = 0;
    this.#taken.resolve();
    this.#taken = Promise.withResolvers();
    return group;
  }

  async #writeFills(group: readonly EncodedBatch[]): Promise<void> {
    if (group.length > 0) await this.#store.writeFills(group);
  }

  /** Memory takes in a batch in one go; requests have their turn in between. */
  async #complete(group: readonly EncodedBatch[]): Promise<void> {
    if (group.length > 0) await this.#store.vouchFor(group);
    for (const batch of group) {
      const digest = decodeDigest(batch);
      this.#store.cover(batch, digest);
      this.#onAppended(digest, batch.last);
      await turn();
    }
  }
}

function rowsOf({ tally }: EncodedBatch): number {
  return tally.fills + tally.events + tally.quarantined.length;
}
