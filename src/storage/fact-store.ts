import { assert } from "../base/assert.ts";
import { settleAll } from "../base/time/settle-all.ts";
import { AppendGroup } from "./append-group.ts";
import { type EncodedBatch, encodeCommit } from "./codec/encode-facts.ts";
import { CoveredFacts } from "./covered-facts.ts";
import type { OpenedEngine } from "./engine/engine.ts";
import { MeteredEngine } from "./engine/metered-engine.ts";
import { untilAdmitted } from "./engine/until-admitted.ts";
import { type Coverage, readCoverage, trimAbove, verifyNewestCommits } from "./recover.ts";
import { ReorgLog } from "./reorg-log.ts";
import { finishRepair } from "./repair.ts";
import { Claims } from "./server/claims.ts";

const settled = Promise.resolve();

/**
 * The durable log of facts of final blocks, for the process that writes it. An append writes the facts, then the commit
 * record; what a crash left above the newest commit record is no part of it.
 */
export class FactStore extends CoveredFacts {
  /** The block that the newest append ends with, also while it is under way. */
  #writtenThrough: number | null;
  /** Resolves when nothing is left in the engine above the coverage it was opened with. */
  readonly trimmed: Promise<void>;
  /** Where appends to a shared database end; `null` in a folder of our own. */
  readonly #claims: Claims | null;

  private constructor(parts: {
    engine: MeteredEngine;
    coverage: Coverage | null;
    reorgs: ReorgLog;
    claims: Claims | null;
  }) {
    super(parts);
    const { engine, coverage, claims } = parts;
    this.#writtenThrough = coverage?.last.number ?? null;
    this.#claims = claims;
    // In a shared database what is above may belong to another process; it is completed, not deleted.
    this.trimmed = claims === null ? untilAdmitted(() => trimAbove(engine, coverage)) : settled;
    // Those who wait for it get the error.
    this.trimmed.catch(() => {});
  }

  /**
   * Opens the store in the database of an engine, which it closes, also when it cannot be opened. What a crash left
   * above the newest commit record is trimmed meanwhile; in a database that others may write to, the next append
   * completes it. `dropCopies` is called before stored facts are changed. Throws `DataFolderDamagedError`.
   */
  static async open(
    { engine: opened, isShared }: OpenedEngine,
    dropCopies: () => void,
  ): Promise<FactStore> {
    const engine = new MeteredEngine(opened);
    try {
      await finishRepair(engine, dropCopies);
      const coverage = await readCoverage(engine);
      const next = coverage === null ? 0 : coverage.last.number + 1;
      const [reorgs, claims] = await settleAll([
        ReorgLog.open(engine, next - 1),
        isShared ? Claims.open(engine, next) : Promise.resolve(null),
        verifyNewestCommits(engine),
      ]);
      return new FactStore({ engine, coverage, reorgs, claims });
    } catch (thrown) {
      // A folder that is refused must not stay locked.
      await engine.close();
      throw thrown;
    }
  }

  /** The last blocks of appends that were begun and not committed: those that follow must end there too. */
  get openEnds(): readonly number[] {
    return this.#claims?.ends ?? [];
  }

  /** The block that an append from `from` on must end with; `null` when it may end with any. */
  endOf(from: number): number | null {
    return this.#claims?.endOf(from) ?? null;
  }

  /**
   * Appends the facts of final blocks, which must go on where the last append ended. Durable when it resolves; reads
   * find it once it is covered. When it rejects, the store must be closed: `open` will trim what was half written.
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
    await untilAdmitted(async () => this.#claims?.claim(group.range));
    await group.insert(["fills", "events", "quarantine"]);
  }

  /**
   * The second step, once their facts are there, and in order: the minutes, then the commit record. Fills
   * without a commit record show a start which minutes to derive again, so minutes never come before them. Then the
   * batches may be covered, in order.
   */
  async commit(group: AppendGroup): Promise<void> {
    await group.insert(["minuteCandles"]);
    const { from } = group.range;
    const commit = encodeCommit(group.batches);
    await untilAdmitted(() => this.engine.insert("commits", commit, `commits:${from}`));
    this.#claims?.release(from);
  }

  override async close(): Promise<void> {
    await Promise.allSettled([this.trimmed]);
    await super.close();
  }
}
