import type { DatabaseSync } from "node:sqlite";
import { DataFolderUnwritableError } from "./chdb-engine.ts";

/** SQLite's codes for a disk that is full, fails, or lets nobody write or open. */
const unwritableCodes: ReadonlySet<number> = new Set([8, 10, 13, 14]);

/** Whether SQLite said it: its file is not what it should be, or cannot be written. */
export function isSqliteFailure(thrown: unknown): boolean {
  return (thrown as NodeJS.ErrnoException).code === "ERR_SQLITE_ERROR";
}

/** Does some work with a file; throws `DataFolderUnwritableError` when the disk is why it fails. */
export function withDisk<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (thrown) {
    // The lowest byte is the code, the others say more about it.
    const code = Number((thrown as { errcode?: number }).errcode) & 255;
    if (!isSqliteFailure(thrown) || !unwritableCodes.has(code)) throw thrown;
    throw new DataFolderUnwritableError("the data folder cannot be written", { cause: thrown });
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
