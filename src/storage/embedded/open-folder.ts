import { setTimeout as delay } from "node:timers/promises";
import { storeLimits } from "../../base/config/limits.ts";
import { orClose } from "../../base/or-close.ts";
import { type Engine, readCount } from "../engine/engine.ts";
import { StoreDamagedError } from "../engine/store-errors.ts";
import { schemaStatements } from "../schema/schema.ts";
import { ChdbEngine } from "./chdb-engine.ts";
import { refuseFullDisk } from "./delete-rows.ts";

/**
 * Opens the engine in a data folder and creates missing tables. Throws `StoreDamagedError` and
 * `DataFolderUnwritableError`.
 */
export async function openFolder(dataDir: string): Promise<Engine> {
  const engine = await ChdbEngine.open(dataDir);
  await orClose(engine, () => prepareFolder(engine));
  return engine;
}

async function prepareFolder(engine: Engine): Promise<void> {
  for (const statement of schemaStatements({ kind: "embedded" })) await engine.command(statement);
  await refuseBrokenParts(engine);
  await finishMutations(engine);
}

/**
 * Waits until the engine has finished the mutations of a process that was killed. The engine resumes
 * them when it starts, and rows must not disappear while a start counts or inserts rows.
 * Throws `DataFolderUnwritableError` when the disk has no room for them.
 */
async function finishMutations(engine: Engine): Promise<void> {
  const unfinished = "system.mutations WHERE database = currentDatabase() AND NOT is_done";
  const underWay = "system.merges WHERE database = currentDatabase() AND is_mutation";
  while ((await readCount(engine, unfinished)) > 0) {
    // A mutation that is running has reserved its disk space.
    if ((await readCount(engine, underWay)) === 0) await refuseFullDisk(engine);
    await delay(storeLimits.mutationsPollMs);
  }
}

/**
 * The engine detaches parts that it cannot read and continues without them. A folder without its commit
 * records would look as if nothing had ever been stored. Every part is fsynced before it counts, so no
 * crash leaves a broken one.
 */
async function refuseBrokenParts(engine: Engine): Promise<void> {
  const [row] = await engine.query(
    `SELECT count(), table FROM system.detached_parts
     WHERE database = currentDatabase() AND startsWith(reason, 'broken')
     GROUP BY table ORDER BY table LIMIT 1`,
  );
  if (row === undefined) return;
  const [parts, table] = [Number(row[0]), String(row[1])];
  throw new StoreDamagedError(`${parts} parts of table ${table} are broken`);
}
