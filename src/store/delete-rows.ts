import { setTimeout as delay } from "node:timers/promises";
import { storeLimits } from "../base/limits.ts";
import { DataFolderUnwritableError } from "./chdb-engine.ts";
import type { Engine } from "./engine.ts";

/** Their rows are also in a projection, from which rows that are merely hidden would still be read. */
const tablesWithProjections: ReadonlySet<string> = new Set(["oddwire.fills"]);

/**
 * Deletes the rows of a table that a condition names; nothing is written when there are none. Of
 * tables without projections rows are only hidden, until parts merge: that costs the same however
 * many others there are. Parts of the rest are written anew, which the engine waits for room to do
 * without an end and without a word: better to throw `DataFolderUnwritableError` before.
 */
export async function deleteRows(engine: Engine, table: string, where: string): Promise<void> {
  if ((await readCount(engine, `${table} WHERE ${where}`)) === 0) return;
  await refuseFullDisk(engine);
  await engine.command(
    tablesWithProjections.has(table)
      ? `ALTER TABLE ${table} DELETE WHERE ${where} SETTINGS mutations_sync = 2`
      : `DELETE FROM ${table} WHERE ${where}`,
  );
}

/** How many rows `<table> WHERE <condition>` names. */
export async function readCount(engine: Engine, fromWhere: string): Promise<number> {
  const [row] = await engine.query(`SELECT count() FROM ${fromWhere}`);
  return Number(row?.[0]);
}

/**
 * Resolves when the engine has carried out what a process was killed in the middle of: it goes on
 * with that by itself after a start, and rows must not go away under what is counted or put there.
 * Throws `DataFolderUnwritableError` when there is no room for it.
 */
export async function finishMutations(engine: Engine): Promise<void> {
  const unfinished = "system.mutations WHERE database = 'oddwire' AND NOT is_done";
  const underWay = "system.merges WHERE database = 'oddwire' AND is_mutation";
  while ((await readCount(engine, unfinished)) > 0) {
    // One that is under way has reserved its room.
    if ((await readCount(engine, underWay)) === 0) await refuseFullDisk(engine);
    await delay(storeLimits.mutationsPollMs);
  }
}

/** The engine reserves 1.1 times the size of a part to write it anew. */
async function refuseFullDisk(engine: Engine): Promise<void> {
  const [row] = await engine.query(
    `SELECT (SELECT min(unreserved_space) FROM system.disks),
       (SELECT max(bytes_on_disk) FROM system.parts WHERE database = 'oddwire' AND active)`,
  );
  const neededBytes = 1.2 * Number(row?.[1]) + storeLimits.trimBytesFreeMin;
  const freeBytes = Number(row?.[0]);
  if (freeBytes >= neededBytes) return;
  const [free, needed] = [freeBytes, neededBytes].map((bytes) => Math.ceil(bytes / 2 ** 20));
  throw new DataFolderUnwritableError(
    `the data folder cannot be written: ${free} MiB are free, ${needed} are needed to start`,
  );
}
