/**
 * Announces repairs of a database on a server. A repair replaces rows that other processes have loaded. So it inserts
 * one row before it begins and another when it has ended. A process that only reads stops when it sees the first, and
 * loads everything again once it sees the second.
 */
import { serverLimits } from "../../base/config/limits.ts";
import type { Clock } from "../../base/time/clock.ts";
import { RowWriter } from "../codec/row-writer.ts";
import type { Engine } from "../engine/engine.ts";

/** Reads the number of the newest repair, 0 before the first, and whether it is under way. */
export async function readNewestRepair(engine: Engine) {
  const [row] = await engine.query(
    "SELECT repair, max(is_done) FROM repairs GROUP BY repair ORDER BY repair DESC LIMIT 1",
  );
  return { number: Number(row?.[0] ?? 0), isUnderWay: row !== undefined && Number(row[1]) === 0 };
}

/** Announces a repair, or resumes an interrupted one. Resolves once readers have had `repairNoticeMs` to see it. */
export async function beginRepair(engine: Engine, clock: Pick<Clock, "sleep">): Promise<number> {
  const newest = await readNewestRepair(engine);
  const number = newest.isUnderWay ? newest.number : newest.number + 1;
  if (!newest.isUnderWay) await write(engine, number, false);
  await clock.sleep(serverLimits.repairNoticeMs, new AbortController().signal);
  return number;
}

/** Announces the end of a repair, so that readers load the repaired rows. */
export async function endRepair(engine: Engine, number: number): Promise<void> {
  await write(engine, number, true);
}

async function write(engine: Engine, number: number, isDone: boolean): Promise<void> {
  await engine.insert("repairs", new RowWriter().uint64(number).uint8(Number(isDone)).finish());
}
