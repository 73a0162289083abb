import { setImmediate as turn } from "node:timers/promises";
import { storeLimits } from "../base/config/limits.ts";
import { settleAll } from "../base/time/settle-all.ts";
import type { Delta } from "../market/delta.ts";
import type { AppendGroup } from "./append-group.ts";
import { type EncodedBatch, releaseRows } from "./codec/encode-facts.ts";
import type { FactStore } from "./fact-store.ts";

type OnAppended = (delta: Delta) => void;

/**
 * Appends final blocks by group commit: what arrives while an append is under way, and until there is
 * enough of it to be worth another one, is appended together. What an append costs, in fsyncs and in
 * merging what it wrote with all else, hardly depends on its size. While one group is committed, the
 * facts of the next one are already written, and memory takes in the one before.
 */
export class FinalWriter {
  readonly #store: FactStore;
  readonly #onAppended: OnAppended;
  readonly #waitMs: number;
  /** All that are not done with, the one that is gathered at the end. */
  readonly #groups = new Set<AppendGroup>();
  #gathering: AppendGroup;
  /** Ends when the group that is gathered should wait no longer. */
  #due = Promise.withResolvers<void>();
  #taken = Promise.withResolvers<void>();
  #adding = Promise.resolve();
  #writing: Promise<void> | null = null;
  #hasFailed = false;

  /** `onAppended` is called in chain order once blocks are durable; a group that is not full waits `waitMs`. */
  constructor(
    store: FactStore,
    options: { readonly onAppended: OnAppended; readonly waitMs: number },
  ) {
    this.#store = store;
    this.#onAppended = options.onAppended;
    this.#waitMs = options.waitMs;
    this.#gathering = this.#openGroup();
  }

  /**
   * Takes the blocks that follow, one batch at a time, and releases its rows. Resolves while there is
   * room, else when there is; rejects with what an earlier append failed of. Nothing waits for more
   * where there is none.
   */
  async write(batch: EncodedBatch, { more }: { readonly more: boolean }): Promise<void> {
    // An append that failed since the last call has not thrown yet.
    if (this.#hasFailed) await this.#writing;
    this.#adding = this.#gathering.add(batch);
    await this.#adding;
    const { fills, minuteCandles, events, quarantine } = batch;
    releaseRows([fills, minuteCandles, events, quarantine]);
    this.#writing ??= this.#writeAll();
    const { rows, batches, isEmpty } = this.#gathering;
    const end = this.#endOfGathering();
    const hasMany = rows >= storeLimits.groupRows || batches.length >= storeLimits.groupBatchesMax;
    const isFull = !isEmpty && (end === null ? hasMany : batch.toBlock === end);
    if (isFull || (!more && end === null)) this.#due.resolve();
    // A failed append must reach the caller even when there is always room.
    await Promise.race([this.#writing, isFull ? this.#taken.promise : Promise.resolve()]);
  }

  /** Resolves when everything taken is durable. */
  async drain(): Promise<void> {
    this.#due.resolve();
    await this.#writing;
  }

  /** The block that the group being gathered has to end with; `null` when any will do. */
  #endOfGathering(): number | null {
    const gathering = this.#gathering;
    return gathering.isEmpty ? null : (this.#store.claims?.endOf(gathering.range.from) ?? null);
  }

  #openGroup(): AppendGroup {
    const group = this.#store.openGroup();
    this.#groups.add(group);
    return group;
  }

  async #close(group: AppendGroup): Promise<void> {
    this.#groups.delete(group);
    await group.close();
  }

  async #writeAll(): Promise<void> {
    try {
      await this.#writeGroups();
      this.#writing = null;
    } catch (thrown) {
      this.#hasFailed = true;
      await Promise.allSettled([this.#adding]);
      for (const group of this.#groups) await this.#close(group);
      throw thrown;
    }
  }

  async #writeGroups(): Promise<void> {
    let written: AppendGroup | null = null;
    let committed: AppendGroup | null = null;
    do {
      const taking = this.#take();
      // The store will be closed after a failure, with nothing under way.
      await settleAll([this.#writeFacts(taking), this.#commit(written), this.#cover(committed)]);
      [written, committed] = [await taking, written];
    } while (written !== null || committed !== null || !this.#gathering.isEmpty);
  }

  /** What was gathered, once it should wait no longer; `null` when nothing was. */
  async #take(): Promise<AppendGroup | null> {
    if (this.#gathering.isEmpty) return null;
    const timer = setTimeout(() => {
      if (this.#endOfGathering() === null) this.#due.resolve();
    }, this.#waitMs);
    await this.#due.promise;
    clearTimeout(timer);
    for (let adding: Promise<void> | null = null; adding !== this.#adding; ) {
      adding = this.#adding;
      await adding;
    }
    const group = this.#gathering;
    this.#gathering = this.#openGroup();
    this.#due = Promise.withResolvers();
    this.#taken.resolve();
    this.#taken = Promise.withResolvers();
    return group;
  }

  async #writeFacts(taking: Promise<AppendGroup | null>): Promise<void> {
    const group = await taking;
    if (group !== null) await this.#store.writeFacts(group);
  }

  async #commit(group: AppendGroup | null): Promise<void> {
    if (group !== null) await this.#store.commit(group);
  }

  /** Memory takes in a batch in one go; requests have their turn in between. */
  async #cover(group: AppendGroup | null): Promise<void> {
    if (group === null) return;
    for await (const { head, delta } of group.deltas()) {
      this.#store.cover(head);
      this.#onAppended(delta);
      await turn();
    }
    await this.#close(group);
  }
}
