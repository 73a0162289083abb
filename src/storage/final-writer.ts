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
  #gathering: AppendGroup;
  #adding = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  /** The steps of the newest group, each of which waits for that of the group before; the last step of the newest three. */
  #written = Promise.resolve();
  #committed = Promise.resolve();
  #covered: readonly Promise<void>[] = [];
  #hasFailed = false;

  /** `onAppended` is called in chain order once blocks are durable; a group that is not full waits `waitMs`. */
  constructor(
    store: FactStore,
    options: { readonly onAppended: OnAppended; readonly waitMs: number },
  ) {
    this.#store = store;
    this.#onAppended = options.onAppended;
    this.#waitMs = options.waitMs;
    this.#gathering = store.openGroup();
  }

  /**
   * Takes the blocks that follow, one batch at a time, and releases its rows. Resolves while there is
   * room, else when there is; rejects with what an earlier append failed of. Nothing waits for more
   * where there is none.
   */
  async write(batch: EncodedBatch, { more }: { readonly more: boolean }): Promise<void> {
    // An append that failed since the last call has not thrown yet.
    if (this.#hasFailed) await this.#covered.at(-1);
    const group = this.#gathering;
    this.#adding = group.add(batch);
    await this.#adding;
    const { fills, minuteCandles, events, quarantine } = batch;
    releaseRows([fills, minuteCandles, events, quarantine]);
    if (group !== this.#gathering) return;
    const { rows, batches, range } = group;
    // The block that the group has to end with; `null` when any will do.
    const end = this.#store.claims?.endOf(range.from) ?? null;
    const hasMany = rows >= storeLimits.groupRows || batches.length >= storeLimits.groupBatchesMax;
    if (end === null ? hasMany : batch.toBlock === end) await this.#append(group);
    else if (end === null && !more) this.#appendSoon(group);
    else if (end === null) this.#timer ??= setTimeout(() => this.#appendSoon(group), this.#waitMs);
  }

  /** Resolves when everything taken is durable. */
  async drain(): Promise<void> {
    await this.#append(this.#gathering);
    await this.#covered.at(-1);
  }

  /** What fails is for who writes next. */
  #appendSoon(group: AppendGroup): void {
    this.#append(group).catch(() => {});
  }

  /** Begins to append what is gathered, once the facts before it are written and no more than two groups are under way. */
  async #append(group: AppendGroup): Promise<void> {
    // The last step of a failed append ends when nothing is under way any more, and says why it failed.
    await Promise.all([this.#written, this.#covered.at(-3)]).catch(() => this.#covered.at(-1));
    if (group === this.#gathering && !group.isEmpty) this.#begin(group);
  }

  #begin(group: AppendGroup): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#gathering = this.#store.openGroup();
    this.#written = after([this.#adding], () => this.#store.writeFacts(group));
    this.#committed = after([this.#written, this.#committed], () => this.#store.commit(group));
    const covered = after([this.#committed, this.#covered.at(-1)], () => this.#cover(group));
    this.#covered = [...this.#covered, covered].slice(-3);
    covered.catch(() => this.#fail(group));
  }

  async #fail(group: AppendGroup): Promise<void> {
    this.#hasFailed = true;
    await Promise.allSettled([this.#adding]);
    await group.close();
    await this.#gathering.close();
  }

  /** Memory takes in a batch in one go; requests have their turn in between. */
  async #cover(group: AppendGroup): Promise<void> {
    for await (const { head, delta } of group.deltas()) {
      this.#store.cover(head);
      this.#onAppended(delta);
      await turn();
    }
    await group.close();
  }
}

/** The store is closed after a failure, with nothing under way: all of the steps before end first. */
async function after(
  steps: readonly (Promise<void> | undefined)[],
  step: () => Promise<void>,
): Promise<void> {
  await settleAll(steps.filter((one) => one !== undefined));
  await step();
}
