import { setTimeout as delay } from "node:timers/promises";
import { serverLimits } from "../../base/config/limits.ts";
import { AppError, StartAgainError, toError } from "../../base/errors.ts";
import { CoveredFacts } from "../covered-facts.ts";
import { type Engine, readCount } from "../engine/engine.ts";
import { MeteredEngine } from "../engine/metered-engine.ts";
import { type Coverage, MissingRowsError } from "../recover.ts";
import { ReorgLog } from "../reorg-log.ts";
import { schemaVersion } from "../schema/schema.ts";
import { connectToServer, type ServerPlace } from "./open-database.ts";
import { readSchemaVersion, refuseOldServer, refuseOtherDatabase } from "./prepare-database.ts";
import { readNewestRepair } from "./repairs.ts";
import { readVerified, verifyBehind } from "./verify-commits.ts";

type ReaderOptions = {
  /** The folder for temporary files of this process. */
  readonly dataDir: string;
  /** Aborts the wait. */
  readonly signal: AbortSignal;
  /** Called with one sentence whenever the reason for waiting changes. */
  readonly onWaiting: (reason: string) => void;
};

/**
 * Facts of a database that another process writes, for a process that only reads. It creates no tables, deletes nothing
 * and needs only the right to `SELECT`. Tables replicate one by one, so a commit record can arrive before its rows.
 * The coverage therefore advances only over ranges whose rows are counted here: call `verifyNext`, bring the views up
 * to the range that it returns, then call `cover`.
 */
export class FactReader extends CoveredFacts {
  /**
   * Waits until the server answers, the tables exist, no repair is under way, and rows of the newest commits are there.
   * Throws `ConfigError` when the database has facts of another identity or tables of a newer version, and the reason
   * of the signal when it is aborted.
   */
  static async open(place: ServerPlace, options: ReaderOptions): Promise<FactReader> {
    let waitingFor = "";
    for (;;) {
      options.signal.throwIfAborted();
      const opened = await tryToOpen(place, options.dataDir);
      if (opened instanceof FactReader) return opened;
      if (opened !== waitingFor) options.onWaiting(opened);
      waitingFor = opened;
      await delay(serverLimits.outageRetryMs, null, { signal: options.signal });
    }
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

/** Returns the reader, or one sentence that says what it has to wait for. */
async function tryToOpen(place: ServerPlace, dataDir: string): Promise<FactReader | string> {
  const opening: { engine: Engine | null } = { engine: null };
  try {
    opening.engine = await connectToServer(place, dataDir);
    const opened = await openDatabaseFor(new MeteredEngine(opening.engine), place);
    if (opened instanceof FactReader) return opened;
    await opening.engine.close();
    return opened;
  } catch (thrown) {
    await opening.engine?.close();
    if (thrown instanceof MissingRowsError) return `${thrown.missing}: replicas may be behind`;
    if (thrown instanceof AppError && thrown.code === "SERVICE_UNAVAILABLE") {
      return toError(thrown.cause).message;
    }
    throw thrown;
  }
}

async function openDatabaseFor(
  engine: MeteredEngine,
  place: ServerPlace,
): Promise<FactReader | string> {
  const name = `the database ${place.database}`;
  await refuseOldServer(engine);
  const version = await readSchemaVersion(engine);
  if (version === 0) return `${name} has no tables yet`;
  if (version < schemaVersion) {
    return `${name} has tables of version ${version}; version ${schemaVersion} is needed: run \`oddwire cluster schema\``;
  }
  await refuseOtherDatabase(engine, place);
  const repair = await readNewestRepair(engine);
  if (repair.isUnderWay) return `${name} is being repaired`;
  const repairs = repair.number;
  const reorgs = await ReorgLog.read(engine);
  const coverage = await readVerified(engine);
  if (coverage !== null) return new FactReader({ engine, coverage, reorgs, repairs });
  if ((await readCount(engine, "commits")) > 0) {
    return `${name} does not have all rows that its newest commit records count`;
  }
  return new FactReader({ engine, coverage: null, reorgs, repairs });
}
