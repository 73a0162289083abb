/** The database of the copy for charts; for its threads as well, in which nothing of the engine may be loaded. */
import { DatabaseSync } from "node:sqlite";
import { storeLimits } from "../base/limits.ts";
import { resolutionSeconds } from "../market/candle.ts";
import { readSetting } from "./saved-columns.ts";

/** To be raised whenever rows are others for the same minutes; the copy is then made anew. */
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
  DROP TABLE IF EXISTS days;
  CREATE TABLE IF NOT EXISTS stretches (
    token BLOB, level INTEGER, start INTEGER, count INTEGER NOT NULL, candles BLOB NOT NULL,
    PRIMARY KEY (token, level, start)
  ) STRICT, WITHOUT ROWID;
`;

/** Throws what SQLite does. */
export function openChartDatabase(path: string): DatabaseSync {
  const sql = new DatabaseSync(path, { timeout: storeLimits.marketsLockedMs });
  try {
    // NORMAL: a loss of power may lose the last days, and damages nothing.
    // Large pages: a chart of a year is some of them, each a wait for the disk.
    sql.exec(`PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
      PRAGMA journal_size_limit = 67108864; ${schema}`);
    if (readSetting(sql, "format") !== formatVersion) {
      sql.exec(`BEGIN IMMEDIATE; DELETE FROM stretches; DELETE FROM settings;
        INSERT INTO settings VALUES ('format', '${formatVersion}'); COMMIT`);
    }
    return sql;
  } catch (thrown) {
    sql.close();
    throw thrown;
  }
}
