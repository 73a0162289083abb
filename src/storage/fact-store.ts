import { assert } from "../base/assert.ts";
import { settleAll } from "../base/time/settle-all.ts";
import { AppendGroup } from "./append-group.ts";
import { type EncodedBatch, encodeCommit } from "./codec/encode-facts.ts";
import { CoveredFacts, type CoveredParts } from "./covered-facts.ts";
import { type OpenedEngine, readCount } from "./engine/engine.ts";
import { MeteredEngine } from "./engine/metered-engine.ts";
import { untilAdmitted } from "./engine/until-admitted.ts";
import { readCoverage, trimAbove, verifyNewestCommits } from "./recover.ts";
import { ReorgLog } from "./reorg-log.ts";
import { finishRepair } from "./repair.ts";
import { candleTables, factTables } from "./schema/fact-tables.ts";
import { Claims } from "./server/claims.ts";
import { completeAppend } from "./server/complete-append.ts";
import { insertUntilThere, tokenOf } from "./server/insert-until-there.ts";
import { readNewestRepair } from "./server/repairs.ts";
import { integerLiteral } from "./sql-literal.ts";

const settled = Promise.resolve();

/** How a store is opened. */
export type StoreOptions = {
  /** Called before stored facts are changed. */
  readonly dropCopies: () => void;
  /** As for `ReorgLog.open`. */
  readonly isServedKnown?: boolean;
  /** Called with the reason when opening waits for replicas that are behind, or, later, when a server takes no rows. */
  readonly onWaiting?: (reason: string) => void;
};

/**
 * The durable log of facts of final blocks, for the process that writes it. An append writes the facts, then the commit
 * record; what a crash left above the newest commit record is no part of it.
 */
export class FactStore extends CoveredFacts {
  /** The block that the newest append ends with, also while it is under way. */
  #writtenThrough: number | null;
  /** Resolves when nothing is left in the engine above the coverage it was opened with. */
  readonly trimmed: Promise<void>;
  /** The time of the newest block that is committed, in unix seconds. */
  #committedAt: number;
  /** Where appends to a database of a server end; `null` in a folder of our own. */
  readonly claims: Claims | null;

  private constructor(parts: CoveredParts & { readonly claims: Claims | null }) {
    super(parts);
    const { engine, coverage, claims } = parts;
    this.#writtenThrough = coverage?.last.number ?? null;
    this.#committedAt = coverage?.last.timestamp ?? 0;
    this.claims = claims;
    // In a shared database what is above may belong to another process; it is completed, not deleted.
    this.trimmed = claims === null ? untilAdmitted(() => trimAbove(engine, coverage)) : settled;
    // Those who wait for it get the error.
    this.trimmed.catch(() => {});
  }

  /**
   * Opens the store in the database of an engine, which it closes, also when it cannot be opened. What a crash left
   * above the newest commit record is trimmed meanwhile; in a database that others may write to, the next append
   * completes it. Throws `StoreDamagedError`, and `SERVICE_UNAVAILABLE` when replicas stay behind.
   */
  static async open(
    { engine: opened, kind }: OpenedEngine,
    { dropCopies, isServedKnown = false, onWaiting = () => {} }: StoreOptions,
  ): Promise<FactStore> {
    const onInsertsFailing = (reason: string) => onWaiting(`appends wait: ${reason}`);
    const engine = new MeteredEngine(opened, onInsertsFailing);
    const isReplicated = kind === "cluster";
    try {
      const isShared = kind !== "embedded";
      if (!isReplicated) await finishRepair(engine, dropCopies, { isShared });
      const repairs = isShared ? (await readNewestRepair(engine)).number : 0;
      const coverage = isReplicated
        ? await (await import("./server/until-replicated.ts")).readReplicated(engine, { onWaiting })
        : await readCoverage(engine);
      const next = coverage === null ? 0 : coverage.last.number + 1;
      const [reorgs, claims] = await settleAll([
        ReorgLog.open(engine, { finalBlock: next - 1, isServedKnown }),
        isShared ? Claims.open(engine, { from: next, isReplicated }) : Promise.resolve(null),
        isReplicated ? Promise.resolve() : verifyNewestCommits(engine),
      ]);
      return new FactStore({ engine, coverage, reorgs, claims, repairs });
    } catch (thrown) {
      // A folder that is refused must not stay locked.
      await engine.close();
      throw thrown;
    }
  }

  /**
   * Appends final blocks that go on where the last append ended; durable when it resolves. After a rejection, close.
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

  /** The first step: their facts; may be taken while those before are committed. */
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
    await untilAdmitted(async () => this.claims?.claim(group.range));
    await group.insert(factTables);
  }

  /**
   * The second step, once their facts are there, and in order: the minutes, then the commit record. Fills
   * without a commit record say at startup which minutes to derive again, so minutes never come before them. Then the
   * batches may be covered, in order.
   */
  async commit(group: AppendGroup): Promise<void> {
    const { from } = group.range;
    const commit = encodeCommit(group.batches);
    const { claims } = this;
    if (claims === null) {
      await group.insert(candleTables);
      await untilAdmitted(() => this.engine.insert("commits", commit));
      return;
    }
    const { isReplicated } = claims;
    await completeAppend(this.engine, { group, isReplicated, since: this.#committedAt });
    await insertUntilThere({
      isReplicated,
      insert: (attempt) =>
        this.engine.insert("commits", commit, tokenOf(`commits:${from}`, attempt)),
      isThere: async () =>
        (await readCount(this.engine, `commits WHERE from_block = ${integerLiteral(from)}`)) > 0,
    });
    this.#committedAt = group.batches.at(-1)?.last.timestamp ?? this.#committedAt;
    claims.release(from);
  }

  override async close(): Promise<void> {
    await Promise.allSettled([this.trimmed]);
    await super.close();
  }
}
