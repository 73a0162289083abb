import { storeLimits } from "../base/limits.ts";
import { type EncodedBatch, mergeBatches } from "./encode-facts.ts";
import type { FactStore } from "./fact-store.ts";

/**
 * Appends final blocks by group commit: what arrives while an append is under way is appended
 * together by the next one. An append costs some fsyncs whatever its size, so nodes that allow
 * only small ranges would otherwise be waiting for the disk.
 */
export class FinalWriter {
  readonly #store: FactStore;
  readonly #onAppended: (batch: EncodedBatch) => void;
  #pending: EncodedBatch[] = [];
  #pendingRows = 0;
  #writing: Promise<void> | null = null;

  /** `onAppended` is called in chain order, each time once the blocks are durable. */
  constructor(store: FactStore, onAppended: (batch: EncodedBatch) => void) {
    this.#store = store;
    this.#onAppended = onAppended;
  }

  /**
   * Takes the blocks that follow. Resolves at once while there is room, else when the append under
   * way is done; rejects with what an earlier append failed of.
   */
  async write(batch: EncodedBatch): Promise<void> {
    this.#pending.push(batch);
    this.#pendingRows += rowsOf(batch);
    this.#writing ??= this.#writeAll();
    const { pendingRowsMax, pendingBatchesMax } = storeLimits;
    const isFull = this.#pendingRows >= pendingRowsMax || this.#pending.length >= pendingBatchesMax;
    if (isFull) await this.drain();
    // A failed append must reach the caller even when there is always room.
    else await Promise.race([this.#writing, Promise.resolve()]);
  }

  /** Resolves when everything taken is durable. */
  async drain(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#pending.length > 0) {
      const group = this.#pending;
      this.#pending = [];
      this.#pendingRows = 0;
      const batch = mergeBatches(group);
      await this.#store.append(batch);
      this.#onAppended(batch);
    }
    this.#writing = null;
  }
}

function rowsOf({ digest: { tally } }: EncodedBatch): number {
  return tally.fills + tally.events + tally.quarantined.length;
}
