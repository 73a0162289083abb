import { setTimeout as delay } from "node:timers/promises";
import { storeLimits } from "../../base/config/limits.ts";
import { wordLiteral } from "../sql-literal.ts";
import { type Engine, readCount } from "./engine.ts";
import { DataDirectoryUnwritableError } from "./store-errors.ts";

/**
 * Deletes the rows of a table that match a condition, if there are any. In a directory, rows that a crash left are mostly
 * alone in their parts, which are dropped immediately. Other parts are rewritten with the rows masked. On a full
 * disk the engine would wait for room forever, without an error, so this throws `DataDirectoryUnwritableError` first.
 */
export async function deleteRows(engine: Engine, table: string, where: string): Promise<void> {
  if ((await readCount(engine, `${table} WHERE ${where}`)) === 0) return;
  if (engine.kind === "embedded") {
    if (await dropParts(engine, table, where)) return;
    await refuseFullDisk(engine);
  }
  await engine.command(`DELETE FROM ${table} WHERE ${where}`);
}

/** Drops the parts in which all rows match. Returns whether no matching rows are left. */
async function dropParts(engine: Engine, table: string, where: string): Promise<boolean> {
  // A merge would replace the parts between the query and the drop, also one that has nearly finished.
  await engine.command(`SYSTEM STOP MERGES ${table}`);
  try {
    const underWay = `system.merges WHERE database = currentDatabase() AND table = '${table}'`;
    while ((await readCount(engine, underWay)) > 0) await delay(storeLimits.mutationsPollMs);
    const parts = await engine.query(
      `SELECT _part, countIf(NOT (${where})) FROM ${table}
       WHERE _part IN (SELECT DISTINCT _part FROM ${table} WHERE ${where}) GROUP BY _part`,
    );
    const whole = parts.filter(([, others]) => Number(others) === 0);
    for (const [name] of whole) {
      await engine.command(`ALTER TABLE ${table} DROP PART ${wordLiteral(String(name))}`);
    }
    return whole.length === parts.length;
  } finally {
    await engine.command(`SYSTEM START MERGES ${table}`);
  }
}

/** Throws `DataDirectoryUnwritableError` without room to rewrite the largest part: the engine reserves 1.1 times it. */
export async function refuseFullDisk(engine: Engine): Promise<void> {
  const [row] = await engine.query(
    `SELECT (SELECT min(unreserved_space) FROM system.disks),
       (SELECT max(bytes_on_disk) FROM system.parts WHERE database = currentDatabase() AND active)`,
  );
  const neededBytes = 1.2 * Number(row?.[1]) + storeLimits.trimBytesFreeMin;
  const freeBytes = Number(row?.[0]);
  if (freeBytes >= neededBytes) return;
  const [free, needed] = [freeBytes, neededBytes].map((bytes) => Math.ceil(bytes / 2 ** 20));
  throw new DataDirectoryUnwritableError(`${free} MiB are free, ${needed} are needed to start`);
}
