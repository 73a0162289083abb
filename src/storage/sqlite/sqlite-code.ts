/** What SQLite says has gone wrong; for threads as well, in which nothing of the engine may be loaded. */

const damageCodes: ReadonlySet<number> = new Set([11, 26]);

/** Whether SQLite said it: its file is not what it should be, or cannot be written. */
export function isSqliteFailure(thrown: unknown): boolean {
  return (thrown as NodeJS.ErrnoException).code === "ERR_SQLITE_ERROR";
}

/** Whether SQLite said that its file is not as it was written. */
export function isSqliteDamage(thrown: unknown): boolean {
  return damageCodes.has(sqliteCodeOf(thrown));
}

/** The lowest byte is the code, the others say more about it; 0 when it is not SQLite's. */
export function sqliteCodeOf(thrown: unknown): number {
  return isSqliteFailure(thrown) ? Number((thrown as { errcode?: number }).errcode) & 255 : 0;
}
