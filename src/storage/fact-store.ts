/**
 * The durable log of facts of final blocks. An append writes the facts, then the commit record; what a crash left
 * above the newest commit record is no part of it.
 */
import { assert } from "../base/assert.ts";
import { settleAll } from "../base/time/settle-all.ts";
import { AppendGroup } from "./append-group.ts";
import { type BatchHead, type EncodedBatch, encodeCommit } from "./codec/encode-facts.ts";
import type { Engine } from "./engine/engine.ts";
import { MeteredEngine } from "./engine/metered-engine.ts";
import { type Coverage, recover, trimAbove, verifyNewestCommits } from "./recover.ts";
import { ReorgLog } from "./reorg-log.ts";
import { schemaStatements } from "./schema.ts";
import { untilAdmitted } from "./until-admitted.ts";

export class FactStore {
  readonly engine: MeteredEngine;
  /** What was served before it was final, and may have been replaced since. */
  readonly reorgs: ReorgLog;
  #coverage: Coverage | null;
  /** The block that the newest append ends with, also while it is under way. */
  #writtenThrough: number | null;
  #appends = 0;
  /** Resolves when nothing is left in the engine above the coverage it was opened with. */
  readonly trimmed: Promise<void>;

  private constructor(engine: MeteredEngine, coverage: Coverage | null, reorgs: ReorgLog) {
    this.engine = engine;
    this.#coverage = coverage;
    this.#writtenThrough = coverage?.last.number ?? null;
    this.reorgs = reorgs;
    this.trimmed = untilAdmitted(() => trimAbove(engine, coverage));
    // Who waits for it is sent.
    this.trimmed.catch(() => {});
  }

  /**
   * Opens the store in the database of an engine, which it closes, also when it cannot be opened. What a crash left
   * above the newest commit record is trimmed meanwhile. `dropCopies` is called before stored facts are changed.
   * Throws `DataFolderDamagedError`.
   */
  static async open(opened: Engine, dropCopies: () => void): Promise<FactStore> {
    const engine = new MeteredEngine(opened);
    try {
      for (const statement of schemaStatements) await engine.command(statement);
      const coverage = await recover(engine, dropCopies);
      const reorgs = ReorgLog.open(engine, coverage?.last.number ?? -1);
      await settleAll([verifyNewestCommits(engine), reorgs]);
      return new FactStore(engine, coverage, await reorgs);
    } catch (thrown) {
      // A folder that is refused must not stay locked.
      await engine.close();
      throw thrown;
    }
  }

  /** What is stored for good; `null` before the first append. */
  get coverage(): Coverage | null {
    return this.#coverage;
  }

  /** Rises with every append. */
  get appends(): number {
    return this.#appends;
  }

  /**
   * Appends the facts of final blocks, which must go on where the last append ended. Durable when it resolves;
   * reads find it once it is covered. When it rejects, the store must be closed: `open` will trim what was half
   * written.
   */
  async append(batch: EncodedBatch): Promise<void> {
    const group = this.openGroup();
    try {
      await group.add(batch);
      await this.writeFacts(group);
      await this.commit(group);
    } finally {
      await group.close();
    }
  }

  /** Room for batches that follow each other, which are then appended in the steps below; to be closed. */
  openGroup(): AppendGroup {
    return new AppendGroup(this.engine);
  }

  /**
   * The first step: their facts. May be taken while those before are committed: a start trims
   * whatever is above the newest commit record.
   */
  async writeFacts(group: AppendGroup): Promise<void> {
    await Promise.all([this.trimmed, this.reorgs.written]);
    for (const { fromBlock, toBlock } of group.batches) {
      const written = this.#writtenThrough;
      assert(
        written === null || fromBlock === written + 1,
        "an append goes on where the last one ended",
      );
      this.#writtenThrough = toBlock;
    }
    await group.insert(["fills", "events", "quarantine"]);
  }

  /**
   * The second step, once their facts are there, and in order: the minutes, then the commit record. Fills
   * without a commit record show a start which minutes to derive again, so minutes never come before them.
   */
  async commit(group: AppendGroup): Promise<void> {
    await group.insert(["minuteCandles"]);
    await this.engine.insert("commits", encodeCommit(group.batches));
  }

  /** The last step, for each batch in order: from now on reads find it. */
  cover({ fromBlock, last }: Pick<BatchHead, "fromBlock" | "last">): void {
    this.#appends += 1;
    this.#coverage = { fromBlock: this.#coverage?.fromBlock ?? fromBlock, last };
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.trimmed, this.reorgs.written]);
    await this.engine.close();
  }
}
