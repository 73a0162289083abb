import { storeLimits } from "../base/limits.ts";
import { DataFolderUnwritableError } from "./chdb-engine.ts";
import type { Engine } from "./engine.ts";

/**
 * Deletes what `<table> WHERE <condition>` names; nothing is written when nothing is found. A
 * delete writes the parts concerned anew, and the engine waits for room to do so without an end
 * and without a word: better to throw `DataFolderUnwritableError` before. It reserves 1.1 times the
 * size of a part.
 */
export async function deleteRows(engine: Engine, fromWhere: string): Promise<void> {
  if ((await readCount(engine, fromWhere)) === 0) return;
  const [row] = await engine.query(
    `SELECT (SELECT min(unreserved_space) FROM system.disks),
       (SELECT max(bytes_on_disk) FROM system.parts WHERE database = 'oddwire' AND active)`,
  );
  const neededBytes = 1.2 * Number(row?.[1]) + storeLimits.trimBytesFreeMin;
  const freeBytes = Number(row?.[0]);
  if (freeBytes < neededBytes) {
    const [free, needed] = [freeBytes, neededBytes].map((bytes) => Math.ceil(bytes / 2 ** 20));
    throw new DataFolderUnwritableError(
      `the data folder cannot be written: ${free} MiB are free, ${needed} are needed to start`,
    );
  }
  await engine.command(`DELETE FROM ${fromWhere}`);
}

/** How many rows `<table> WHERE <condition>` names. */
export async function readCount(engine: Engine, fromWhere: string): Promise<number> {
  const [row] = await engine.query(`SELECT count() FROM ${fromWhere}`);
  return Number(row?.[0]);
}
