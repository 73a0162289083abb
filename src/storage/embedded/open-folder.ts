import { setTimeout as delay } from "node:timers/promises";
import { storeLimits } from "../../base/config/limits.ts";
import { type Engine, type OpenedEngine, readCount } from "../engine/engine.ts";
import { StoreDamagedError } from "../engine/store-errors.ts";
import { schemaStatements } from "../schema/schema.ts";
import { ChdbEngine } from "./chdb-engine.ts";
import { refuseFullDisk } from "./delete-rows.ts";

/**
 * Opens the engine in a data folder, and makes its tables unless they are there. Throws `DataFolderBusyError`,
 * `StoreDamagedError` and `DataFolderUnwritableError`.
 */
export async function openFolder(dataDir: string): Promise<OpenedEngine> {
  const engine = await ChdbEngine.open(dataDir);
  try {
    await prepareFolder(engine);
    return { engine, kind: "embedded" };
  } catch (thrown) {
    // A folder that is refused must not stay locked.
    await engine.close();
    throw thrown;
  }
}

async function prepareFolder(engine: Engine): Promise<void> {
  for (const statement of schemaStatements({ kind: "embedded" })) await engine.command(statement);
  await refuseBrokenParts(engine);
  await finishMutations(engine);
}

/**
 * Resolves when the engine has carried out what a process was killed in the middle of: it goes on
 * with that on its own after a start, and rows must not go away under what is counted or put there.
 * Throws `DataFolderUnwritableError` when there is no room for it.
 */
async function finishMutations(engine: Engine): Promise<void> {
  const unfinished = "system.mutations WHERE database = currentDatabase() AND NOT is_done";
  const underWay = "system.merges WHERE database = currentDatabase() AND is_mutation";
  while ((await readCount(engine, unfinished)) > 0) {
    // One that is under way has reserved its room.
    if ((await readCount(engine, underWay)) === 0) await refuseFullDisk(engine);
    await delay(storeLimits.mutationsPollMs);
  }
}

/**
 * The engine puts aside what it cannot read and goes on without: with the commit records gone, that would
 * look like a folder in which nothing was ever acknowledged. Every part is fsynced before it
 * counts, so no crash leaves a broken one.
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
