/** The database of the copy for charts; for its threads as well, in which nothing of the engine may be loaded. */
import { rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { storeLimits } from "../../base/config/limits.ts";
import { resolutionSeconds } from "../../market/candle.ts";
import { readSetting } from "../disk/saved-columns.ts";

/** To be raised whenever rows are others for the same minutes; the copy is then rebuilt. */
const formatVersion = "2";

const { "1h": hourSeconds, "1d": daySeconds } = resolutionSeconds;

/** Of what candles a row is made. */
export const chartLevels = { minutes: 60, hours: hourSeconds, days: daySeconds } as const;
export type ChartLevel = (typeof chartLevels)[keyof typeof chartLevels];

/** The largest candles from which buckets of so many seconds are made. */
export function chartLevelOf(bucketSeconds: number): ChartLevel {
  if (bucketSeconds % daySeconds === 0) return chartLevels.days;
  return bucketSeconds % hourSeconds === 0 ? chartLevels.hours : chartLevels.minutes;
}

/**
 * Candles that follow each other, how many they are, and the start of the first one. They begin and end with buckets of all sizes that
 * are made of their level.
 */
const schema = `
  CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS ranges (
    token BLOB, level INTEGER, start INTEGER, count INTEGER NOT NULL, candles BLOB NOT NULL,
    PRIMARY KEY (token, level, start)
  ) STRICT, WITHOUT ROWID;
`;

/** Opens it; one of another format starts again. Throws what SQLite does. */
export function openChartDatabase(path: string): DatabaseSync {
  const { sql, format } = openAnyFormat(path);
  if (format === formatVersion) return sql;
  sql.close();
  // Its rows could be many: to delete them takes longer than to delete the file.
  removeChartDatabase(path);
  return openAnyFormat(path).sql;
}

/** Throws it away. */
export function removeChartDatabase(path: string): void {
  for (const ending of ["", "-wal", "-shm"]) rmSync(`${path}${ending}`, { force: true });
}

/** A new one is of the format of today. */
function openAnyFormat(path: string): { readonly sql: DatabaseSync; readonly format: string } {
  const sql = new DatabaseSync(path, { timeout: storeLimits.marketsLockedMs });
  try {
    // NORMAL: a loss of power may lose the last days, and damages nothing.
    // Large pages: a chart of a year is some of them, each a wait for the disk.
    sql.exec(`PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
      PRAGMA journal_size_limit = 67108864; ${schema}
      INSERT OR IGNORE INTO settings VALUES ('format', '${formatVersion}')`);
    return { sql, format: String(readSetting(sql, "format")) };
  } catch (thrown) {
    sql.close();
    throw thrown;
  }
}
