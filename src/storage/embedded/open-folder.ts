import { setTimeout as delay } from "node:timers/promises";
import { closeOnError } from "../../base/close-on-error.ts";
import { storeLimits } from "../../base/config/limits.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import { refuseFullDisk } from "../engine/delete-rows.ts";
import { type Engine, readCount } from "../engine/engine.ts";
import { schemaStatements } from "../schema/schema.ts";
import { refuseBrokenParts } from "./broken-parts.ts";
import { ChdbEngine } from "./chdb-engine.ts";

/**
 * Opens the engine in a data directory and creates missing tables. Throws `StoreDamagedError` and
 * `DataDirectoryUnwritableError`.
 */
export async function openFolder(
  dataDir: string,
  { wallets }: Pick<Contracts, "wallets"> = { wallets: true },
): Promise<Engine> {
  const engine = await ChdbEngine.open(dataDir, wallets);
  await closeOnError(engine, () => prepareFolder(engine));
  return engine;
}

async function prepareFolder(engine: Engine): Promise<void> {
  for (const statement of schemaStatements({ kind: "embedded" }, engine)) {
    await engine.command(statement);
  }
  await refuseBrokenParts(engine);
  await finishMutations(engine);
}

/**
 * Waits until the engine has finished the mutations of a process that was killed. The engine resumes
 * them when it starts, and rows must not disappear while a start counts or inserts rows.
 * Throws `DataDirectoryUnwritableError` when the disk has no room for them.
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
