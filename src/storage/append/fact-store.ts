import { assert } from "../../base/assert.ts";
import { closeOnError } from "../../base/close-on-error.ts";
import { settleAll } from "../../base/time/settle-all.ts";
import type { Coverage } from "../../chain/raw-log.ts";
import { encodeCommit } from "../codec/encode-facts.ts";
import { CoveredFacts, type CoveredParts } from "../covered-facts.ts";
import { type Engine, readCount } from "../engine/engine.ts";
import { getToken, insertUntilThere } from "../engine/insert-until-there.ts";
import { untilAdmitted } from "../engine/until-admitted.ts";
import {
  readCoverage,
  trimAbove,
  verifyAllCommits,
  verifyNewestCommits,
} from "../recovery/recover.ts";
import { finishRepair } from "../recovery/repair.ts";
import { candleTables, getFactTables } from "../schema/fact-tables.ts";
import { Claims } from "../server/claims.ts";
import { completeAppend } from "../server/complete-append.ts";
import { readNewestRepair } from "../server/repairs.ts";
import type { WaitOptions } from "../server/until-replicated.ts";
import { integerLiteral } from "../sql-literal.ts";
import type { AppendGroup } from "./append-group.ts";
import { ReorgLog } from "./reorg-log.ts";

/** Options for opening a store. */
export type StoreOptions = {
  /** Called before a repair changes stored facts, to delete what was derived from them. */
  readonly dropCopies: () => void;
  /** An option of `ReorgLog.open`. */
  readonly isServedKnown?: boolean;
  /** Called with the reason when opening waits for replicas that are behind, and later when inserts begin to fail. */
  readonly onWaiting?: (reason: string) => void;
  /** Ends the wait for replicas, with an `AbortError`. */
  readonly signal?: AbortSignal;
};

/**
 * The durable log of facts of final blocks, for the process that writes it. An append writes the facts, then the commit
 * record. Rows that a crash left above the newest commit record do not belong to it.
 */
export class FactStore extends CoveredFacts {
  /** The last block of the newest append, which can still be under way. */
  #writtenThrough: number | null;
  /** Resolves when the engine has no rows above the coverage that the store was opened with. */
  readonly pendingTrim: Promise<void>;
  /** The time of the newest committed block, in unix seconds. */
  #committedAt: number;
  /** The claims of appends in a database on a server; `null` in a data directory. */
  readonly claims: Claims | null;

  private constructor(parts: CoveredParts & { readonly claims: Claims | null }) {
    super(parts);
    const { engine, coverage, claims } = parts;
    this.#writtenThrough = coverage?.last.number ?? null;
    this.#committedAt = coverage?.last.timestamp ?? 0;
    this.claims = claims;
    // In a shared database, rows above can belong to another process. Its append is completed, not deleted.
    this.pendingTrim =
      claims === null ? untilAdmitted(() => trimAbove(engine, coverage)) : Promise.resolve();
    // Callers that await `pendingTrim` get the error.
    this.pendingTrim.catch(() => {});
  }

  /**
   * Opens the store in the database of an engine. The store closes the engine, also when opening fails. A crash can
   * leave rows above the newest commit record. In a directory they are trimmed in the background. In a database that
   * other processes can write to, the next append completes them. Throws `StoreDamagedError`, and
   * `SERVICE_UNAVAILABLE` when replicas stay behind.
   */
  static async open(engine: Engine, options: StoreOptions): Promise<FactStore> {
    const { dropCopies, isServedKnown = false, onWaiting = () => {}, signal } = options;
    engine.meter.onInsertsFailing = (reason) => onWaiting(`appends wait: ${reason}`);
    const isReplicated = engine.kind === "cluster";
    return closeOnError(engine, async () => {
      const isShared = engine.kind !== "embedded";
      if (!isReplicated) await finishRepair(engine, dropCopies);
      const repairs = isShared ? (await readNewestRepair(engine)).number : 0;
      const coverage = await readCompleteCoverage(engine, { onWaiting, signal });
      const next = coverage === null ? 0 : coverage.last.number + 1;
      const [reorgs, claims] = await settleAll([
        ReorgLog.open(engine, { finalBlock: next - 1, isServedKnown }),
        isShared ? Claims.open(engine, next) : Promise.resolve(null),
        isReplicated ? Promise.resolve() : verifyNewestCommits(engine),
        verifyAllCommits(engine, coverage),
      ]);
      return new FactStore({ engine, coverage, reorgs, claims, repairs });
    });
  }

  /** Writes the facts of a group: the first step. It can run while earlier groups are committed. */
  async writeFacts(group: AppendGroup): Promise<void> {
    await Promise.all([this.pendingTrim, this.reorgs.pendingWrites]);
    for (const { fromBlock, last } of group.batches) {
      const written = this.#writtenThrough;
      assert(
        written === null || fromBlock === written + 1,
        "an append continues where the last one ended",
      );
      this.#writtenThrough = last.number;
    }
    await untilAdmitted(async () => this.claims?.claim(group.range));
    await group.insert(getFactTables(this.engine));
  }

  /**
   * Writes the candles of a group, then its commit record: the second step, after its facts are written, in the order
   * of groups. Candles never come before fills, because a start derives again the minutes of fills without a commit
   * record. Afterwards the batches may be covered, in order.
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
    await completeAppend(this.engine, group, this.#committedAt);
    const insert = (attempt: number) =>
      this.engine.insert("commits", commit, getToken(`commits:${from}`, attempt));
    const rows = `commits WHERE from_block = ${integerLiteral(from)}`;
    await insertUntilThere(
      this.engine,
      insert,
      async () => (await readCount(this.engine, rows)) > 0,
    );
    this.#committedAt = group.batches.at(-1)?.last.timestamp ?? this.#committedAt;
    claims.release(from);
  }

  override async close(): Promise<void> {
    await Promise.allSettled([this.pendingTrim]);
    await super.close();
  }
}

/** Reads the coverage; in a cluster once its rows are replicated. Throws as `readCoverage` and `readReplicated` do. */
export async function readCompleteCoverage(
  engine: Engine,
  wait: WaitOptions,
): Promise<Coverage | null> {
  if (engine.kind !== "cluster") return readCoverage(engine);
  const { readReplicated } = await import("../server/until-replicated.ts");
  return readReplicated(engine, wait);
}
