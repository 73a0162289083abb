import { setImmediate as turn } from "node:timers/promises";
import { storeLimits } from "../../base/config/limits.ts";
import { settleAll } from "../../base/time/settle-all.ts";
import type { Delta } from "../../market/delta.ts";
import { type BatchHead, type EncodedBatch, releaseRows } from "../codec/encode-facts.ts";
import { AppendGroup } from "./append-group.ts";
import type { FactStore } from "./fact-store.ts";

type OnAppended = (batch: BatchHead, delta: Delta) => void;

/**
 * Appends final blocks by group commit: batches are collected until they are enough, or until no more follow, and
 * appended together. The cost of an append, in fsyncs and later merges, hardly depends on its size. Groups overlap:
 * while one is committed, the facts of the next are written, and views apply the one before.
 */
export class FinalWriter {
  readonly #store: FactStore;
  readonly #onAppended: OnAppended;
  readonly #waitMs: number;
  #gathering: AppendGroup;
  #addStep = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  /** The steps of the newest group. Each waits for the same step of the group before; `#coverSteps` has the last three. */
  #writeStep = Promise.resolve();
  #commitStep = Promise.resolve();
  #coverSteps: readonly Promise<void>[] = [];
  #hasFailed = false;

  /**
   * `onAppended` is called in chain order once blocks are durable, and covers them. A group that is not full waits
   * `waitMs`.
   */
  constructor(
    store: FactStore,
    options: { readonly onAppended: OnAppended; readonly waitMs: number },
  ) {
    this.#store = store;
    this.#onAppended = options.onAppended;
    this.#waitMs = options.waitMs;
    this.#gathering = new AppendGroup(store.engine);
  }

  /**
   * Takes the next batch and releases its rows. Resolves when there is room for another; call it again
   * only then. Rejects with the error of an earlier append. Without `more` batches to come soon, the group
   * is appended without waiting.
   */
  async write(batch: EncodedBatch, { more }: { readonly more: boolean }): Promise<void> {
    // The error of an append that failed since the last call has not been thrown yet.
    if (this.#hasFailed) await this.#coverSteps.at(-1);
    const group = this.#gathering;
    this.#addStep = group.add(batch);
    await this.#addStep;
    releaseRows(batch.rows);
    if (group !== this.#gathering) return;
    const { rows, batches, range } = group;
    // The block that the group has to end with by a claim; `null` when any block will do.
    const end = this.#store.claims?.getEnd(range.from) ?? null;
    const hasMany = rows >= storeLimits.groupRows || batches.length >= storeLimits.groupBatchesMax;
    if (end === null ? hasMany : batch.last.number === end) await this.#append(group);
    else if (end === null && !more) this.#appendSoon(group);
    else if (end === null) this.#timer ??= setTimeout(() => this.#appendSoon(group), this.#waitMs);
  }

  /** Appends the open group. Resolves when all batches taken are durable. */
  async drain(): Promise<void> {
    await this.#append(this.#gathering);
    await this.#coverSteps.at(-1);
  }

  /** Appends a group in the background. The next `write` or `drain` throws its error. */
  #appendSoon(group: AppendGroup): void {
    this.#append(group).catch(() => {});
  }

  /** Begins to append a group, once earlier facts are written and at most two groups are under way. */
  async #append(group: AppendGroup): Promise<void> {
    // The last step of a failed append settles when nothing is under way any more, and rejects with the error.
    await Promise.all([this.#writeStep, this.#coverSteps.at(-3)]).catch(() =>
      this.#coverSteps.at(-1),
    );
    if (group === this.#gathering && !group.isEmpty) this.#begin(group);
  }

  #begin(group: AppendGroup): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#gathering = new AppendGroup(this.#store.engine);
    this.#writeStep = after([this.#addStep], () => this.#store.writeFacts(group));
    this.#commitStep = after([this.#writeStep, this.#commitStep], () => this.#store.commit(group));
    const covered = after([this.#commitStep, this.#coverSteps.at(-1)], () => this.#cover(group));
    this.#coverSteps = [...this.#coverSteps, covered].slice(-3);
    covered.catch(() => this.#fail(group));
  }

  async #fail(group: AppendGroup): Promise<void> {
    this.#hasFailed = true;
    await Promise.allSettled([this.#addStep]);
    await group.close();
    await this.#gathering.close();
  }

  /** Passes on the batches of a group and their deltas. Requests get a turn of the event loop after each. */
  async #cover(group: AppendGroup): Promise<void> {
    for await (const { head, delta } of group.deltas()) {
      this.#onAppended(head, delta);
      await turn();
    }
    await group.close();
  }
}

/** Runs a step after others. Waits for all even if one fails: nothing is under way when a failed store is closed. */
async function after(
  steps: readonly (Promise<void> | undefined)[],
  step: () => Promise<void>,
): Promise<void> {
  await settleAll(steps.filter((one) => one !== undefined));
  await step();
}
