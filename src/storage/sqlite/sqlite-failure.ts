import type { DatabaseSync } from "node:sqlite";
import { DataFolderUnwritableError, StoreDamagedError } from "../engine/store-errors.ts";

/** SQLite's codes for a file that is not as it was written. */
const damageCodes: ReadonlySet<number> = new Set([11, 26]);

/** SQLite's codes for a disk that is full, fails, or denies access. */
const unwritableCodes: ReadonlySet<number> = new Set([8, 10, 13, 14]);

/** Does some work with a file; throws `DataFolderUnwritableError` when the disk is why it fails. */
export function withDisk<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (thrown) {
    if (!unwritableCodes.has(sqliteCodeOf(thrown))) throw thrown;
    throw new DataFolderUnwritableError("the data folder cannot be written", { cause: thrown });
  }
}

/** The same for a file that cannot be rebuilt; throws `StoreDamagedError` when it is damaged. */
export function withKeptFile<Result>(path: string, work: () => Result): Result {
  try {
    return withDisk(work);
  } catch (thrown) {
    if (!damageCodes.has(sqliteCodeOf(thrown))) throw thrown;
    throw new StoreDamagedError(`${path} is damaged`, { cause: thrown });
  }
}

/**
 * Writes as part of the open transaction. A failure ends it for good: what was written before is
 * gone with it, so nothing may be written after. Throws `DataFolderUnwritableError`.
 */
export function withinTransaction(sql: DatabaseSync, write: () => void): void {
  if (!sql.isTransaction) {
    throw new DataFolderUnwritableError("the data folder could not be written before");
  }
  try {
    withDisk(write);
  } catch (thrown) {
    if (sql.isTransaction) sql.exec("ROLLBACK");
    throw thrown;
  }
}

/** Whether SQLite said it: its file is not what it should be, or cannot be written. */
export function isSqliteFailure(thrown: unknown): boolean {
  return (thrown as NodeJS.ErrnoException).code === "ERR_SQLITE_ERROR";
}

/** The lowest byte is the code, the others say more about it; 0 when it is not SQLite's. */
function sqliteCodeOf(thrown: unknown): number {
  return isSqliteFailure(thrown) ? Number((thrown as { errcode?: number }).errcode) & 255 : 0;
}
