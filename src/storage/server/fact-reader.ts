import { closeOnError } from "../../base/close-on-error.ts";
import { serverLimits } from "../../base/config/limits.ts";
import { AppError, StartAgainError, toError } from "../../base/errors.ts";
import type { Coverage } from "../../chain/raw-log.ts";
import { ReorgLog } from "../append/reorg-log.ts";
import { CoveredFacts } from "../covered-facts.ts";
import { readCount } from "../engine/engine.ts";
import { MissingRowsError } from "../recovery/recover.ts";
import { schemaVersion } from "../schema/schema.ts";
import type { ServerDatabase } from "./open-database.ts";
import { readSchemaVersion, refuseOtherDatabase } from "./prepare-database.ts";
import { readNewestRepair } from "./repairs.ts";
import { ServerEngine } from "./server-engine.ts";
import { untilReady, type WaitOptions } from "./until-replicated.ts";
import { readVerified, verifyBehind } from "./verify-commits.ts";

/**
 * Facts of a database that another process writes, for a process that only reads. It creates no tables, deletes
 * nothing and needs only the right to `SELECT`. Tables replicate one by one, so a commit record can arrive before its
 * rows. The coverage therefore advances only over ranges whose rows are counted here. Call `verifyNext`, and read the
 * delta of the range that it returns. Then call `cover`, and apply the delta to the views in the same turn.
 */
export class FactReader extends CoveredFacts {
  /**
   * Waits until the server answers, the tables exist, no repair is under way, and rows of the newest commits are there.
   * Throws `ConfigError` when the database has facts of another identity or tables of a newer version, and `AbortError`
   * when the wait is aborted.
   */
  static async open(target: ServerDatabase, wait: WaitOptions): Promise<FactReader> {
    return untilReady(() => openReader(target), { ...wait, getReason: reasonToWait });
  }

  /**
   * Returns the next committed range after the coverage whose rows are all there: one commit, or several that have at
   * most `followedRowsMax` rows together; `null` while there is none. Does not advance the coverage. Throws
   * `SERVICE_UNAVAILABLE`, and `StartAgainError` once another process repairs stored blocks.
   */
  async verifyNext(): Promise<Coverage | null> {
    const { engine, coverage, repairs } = this;
    const { number } = await readNewestRepair(engine);
    if (number !== repairs) throw new StartAgainError("another process repairs stored blocks");
    const range = await verifyBehind(engine, coverage?.last ?? null, serverLimits.followedRowsMax);
    // Reorgs are logged before the blocks that replace others are stored, so the log has them by now.
    if (range !== null) await this.reorgs.refresh(engine);
    return range;
  }
}

/** Opens the reader. Throws `SERVICE_UNAVAILABLE` with what is missing as the cause. */
async function openReader(target: ServerDatabase): Promise<FactReader> {
  const engine = await ServerEngine.open(target);
  return closeOnError(engine, async () => {
    const name = `the database ${target.database}`;
    const version = await readSchemaVersion(engine);
    if (version === 0) throw notReady(`${name} has no tables yet`);
    if (version < schemaVersion) {
      throw notReady(
        `${name} has tables of version ${version}; version ${schemaVersion} is needed: run \`oddwire cluster schema\``,
      );
    }
    await refuseOtherDatabase(engine, target);
    const repair = await readNewestRepair(engine);
    if (repair.isUnderWay) throw notReady(`${name} is being repaired`);
    const reorgs = await ReorgLog.read(engine);
    const coverage = await readVerified(engine);
    if (coverage === null && (await readCount(engine, "commits")) > 0) {
      throw notReady(`${name} does not have all rows that its newest commit records count`);
    }
    return new FactReader({ engine, coverage, reorgs, repairs: repair.number });
  });
}

function notReady(reason: string): AppError {
  return new AppError("SERVICE_UNAVAILABLE", { cause: new Error(reason) });
}

function reasonToWait(thrown: unknown): string | null {
  if (thrown instanceof MissingRowsError) return `${thrown.missing}: replicas may be behind`;
  const isWaiting = thrown instanceof AppError && thrown.code === "SERVICE_UNAVAILABLE";
  return isWaiting ? toError(thrown.cause).message : null;
}
