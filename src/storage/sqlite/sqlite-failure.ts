import type { DatabaseSync } from "node:sqlite";
import {
  DataFolderDamagedError,
  DataFolderUnwritableError,
} from "../embedded/data-folder-errors.ts";
import { isSqliteDamage, sqliteCodeOf } from "./sqlite-code.ts";

/** SQLite's codes for a disk that is full, fails, or lets no one write or open. */
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

/** The same for a file that cannot be rebuilt; throws `DataFolderDamagedError` when it is damaged. */
export function withKeptFile<Result>(path: string, work: () => Result): Result {
  try {
    return withDisk(work);
  } catch (thrown) {
    if (!isSqliteDamage(thrown)) throw thrown;
    throw new DataFolderDamagedError(`${path} is damaged`, { cause: thrown });
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
