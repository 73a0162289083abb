import type { DatabaseSync } from "node:sqlite";
import { toError } from "../../base/errors.ts";
import { DataDirectoryUnwritableError, StoreDamagedError } from "../engine/store-errors.ts";

/** SQLite's codes for a damaged file: SQLITE_CORRUPT and SQLITE_NOTADB. */
const damageCodes: ReadonlySet<number> = new Set([11, 26]);

/** SQLite's codes for a disk that denies access, fails or is full: READONLY, IOERR, FULL, CANTOPEN. */
const unwritableCodes: ReadonlySet<number> = new Set([8, 10, 13, 14]);

/** Runs work on a file of a location. Throws `DataDirectoryUnwritableError` when it fails because of the disk. */
export function withDisk<Result>(work: () => Result, location?: string): Result {
  try {
    return work();
  } catch (thrown) {
    if (!unwritableCodes.has(getSqliteCode(thrown))) throw thrown;
    throw new DataDirectoryUnwritableError(toError(thrown).message, {
      cause: thrown,
      ...(location === undefined ? {} : { location }),
    });
  }
}

/** A file that cannot be rebuilt, and what to do if it is damaged and there is no backup. */
type KeptFile = { readonly path: string; readonly advice: string };

/**
 * Opens a file that cannot be rebuilt. Throws as `withDisk`, and `StoreDamagedError` when the file is damaged or has
 * other tables than ours.
 */
export function withKeptFile<Result>({ path, advice }: KeptFile, open: () => Result): Result {
  try {
    return withDisk(open);
  } catch (thrown) {
    // A transaction of `AccessDatabase` wraps the error of SQLite.
    const causes = [thrown, toError(thrown).cause];
    if (!causes.some((cause) => isDamaged(cause) || hasOtherTables(cause))) throw thrown;
    throw new StoreDamagedError(`${path} is damaged`, { cause: thrown, advice });
  }
}

/** Runs work on a file that can be rebuilt. Calls `onDamaged` when the work fails because the file is damaged. */
export function noticingDamage<Result>(onDamaged: () => void, work: () => Result): Result {
  try {
    return work();
  } catch (thrown) {
    if (isDamaged(thrown)) onDamaged();
    throw thrown;
  }
}

/**
 * Writes as part of the open transaction. A failure rolls it back: its earlier writes are lost, so later
 * writes are refused. Throws `DataDirectoryUnwritableError`.
 */
export function withinTransaction(sql: DatabaseSync, write: () => void): void {
  if (!sql.isTransaction) {
    throw new DataDirectoryUnwritableError("an earlier write failed");
  }
  try {
    withDisk(write);
  } catch (thrown) {
    if (sql.isTransaction) sql.exec("ROLLBACK");
    throw thrown;
  }
}

/** Whether SQLite raised the error: its file is damaged or cannot be written. */
export function isSqliteFailure(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "ERR_SQLITE_ERROR";
}

/** Whether a file is damaged, or is not one of SQLite. */
export function isDamaged(thrown: unknown): boolean {
  return damageCodes.has(getSqliteCode(thrown));
}

/** Whether a statement does not fit the tables: SQLITE_ERROR. */
function hasOtherTables(thrown: unknown): boolean {
  return getSqliteCode(thrown) === 1;
}

/** Whether another process holds a lock on the file: SQLITE_BUSY. */
export function isLocked(thrown: unknown): boolean {
  return getSqliteCode(thrown) === 5;
}

/** Returns the primary code of SQLite, which is the lowest byte of the extended one; 0 for other errors. */
function getSqliteCode(thrown: unknown): number {
  return isSqliteFailure(thrown) ? Number((thrown as { errcode?: number }).errcode) & 255 : 0;
}
