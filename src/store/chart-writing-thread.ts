/**
 * The far end of `chart-rollup.ts`: puts the candles of some days, whose minutes are in a file, into the
 * copy, all of them or none. The minutes come by token, then by time; one that is stored in parts comes as
 * often. Nothing of the engine may be loaded here: it would end with the thread.
 */
import { closeSync, openSync, readSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { workerData } from "node:worker_threads";
import { assert } from "../base/assert.ts";
import type { Seq } from "../base/ids.ts";
import { storeLimits } from "../base/limits.ts";
import { type Candle, resolutionSeconds } from "../market/candle.ts";
import { type ChartLevel, chartLevels, openChartDatabase } from "./chart-database.ts";
import type { ChartStep } from "./chart-rollup.ts";
import type { BucketCandle } from "./newest-candles.ts";
import { packCandles } from "./pack-candles.ts";
import { RowReader } from "./row-reader.ts";
import { sumUpCandles } from "./sum-up-candles.ts";

const { "1m": minuteSeconds, "1h": hourSeconds, "1d": daySeconds } = resolutionSeconds;

const tokenBytes = 32;
/** Of a row: the token, the minute, open and close with their positions, five amounts, how many trades. */
const rowBytes = tokenBytes + 4 + 2 * (8 + 16) + 5 * 16 + 8;
const rowsAtOnce = 16_384;

type Put = (token: Buffer, level: ChartLevel, candles: readonly BucketCandle[]) => void;

writeDays(workerData as ChartStep);

function writeDays({ rowsPath, chartPath, to }: ChartStep): void {
  const sql = openChartDatabase(chartPath);
  try {
    sql.exec("PRAGMA cache_size = -8192; BEGIN IMMEDIATE");
    putDays(rowsPath, putInto(sql));
    sql.prepare("INSERT OR REPLACE INTO settings VALUES ('before', ?)").run(String(to));
    sql.exec("COMMIT");
  } finally {
    sql.close();
  }
}

function putInto(sql: DatabaseSync): Put {
  const insert = sql.prepare("INSERT OR REPLACE INTO days VALUES (?, ?, ?, ?)");
  return (token, level, candles) => {
    const first = candles[0]?.bucket ?? 0;
    insert.run(token, level, first - (first % daySeconds), packCandles(candles));
  };
}

/** One day of one token after the other. */
function putDays(rowsPath: string, put: Put): void {
  let token = Buffer.alloc(0);
  let minutes: BucketCandle[] = [];
  for (const { token: nextToken, minute } of readRows(rowsPath)) {
    const last = minutes.at(-1);
    if (last !== undefined) {
      if (dayOf(last.bucket) === dayOf(minute.bucket) && token.equals(nextToken)) {
        minutes.push(minute);
        continue;
      }
      putDay(token, minutes, put);
    }
    token = Buffer.from(nextToken);
    minutes = [minute];
  }
  if (minutes.length > 0) putDay(token, minutes, put);
}

function putDay(token: Buffer, parts: readonly BucketCandle[], put: Put): void {
  const minutes = sumUpCandles(parts, minuteSeconds);
  if (minutes.length <= storeLimits.chartFewMinutesMax) {
    put(token, chartLevels.few, minutes);
    return;
  }
  const hours = sumUpCandles(minutes, hourSeconds);
  put(token, chartLevels.minutes, minutes);
  put(token, chartLevels.hours, hours);
  put(token, chartLevels.day, sumUpCandles(hours, daySeconds));
}

function dayOf(time: number): number {
  return Math.floor(time / daySeconds);
}

/** The tokens are parts of what the next row may overwrite. */
function* readRows(path: string): Generator<{ token: Buffer; minute: BucketCandle }> {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(rowsAtOnce * rowBytes);
    const reader = new RowReader(bytes);
    for (let begin = 0; ; ) {
      const length = readFully(file, bytes, begin);
      assert(length % rowBytes === 0, "rows are written whole");
      for (let at = 0; at < length; at += rowBytes) {
        const token = bytes.subarray(at, at + tokenBytes);
        yield { token, minute: minuteAt(reader, at + tokenBytes) };
      }
      if (length < bytes.length) return;
      begin += length;
    }
  } finally {
    closeSync(file);
  }
}

/** As many bytes as there are from a place on, or as there is room for. */
function readFully(file: number, bytes: Buffer, begin: number): number {
  let length = 0;
  while (length < bytes.length) {
    const count = readSync(file, bytes, length, bytes.length - length, begin + length);
    if (count === 0) break;
    length += count;
  }
  return length;
}

function minuteAt(rows: RowReader, at: number): BucketCandle {
  const [buyVolumeUsd, sellVolumeUsd] = [rows.int128(at + 100), rows.int128(at + 116)];
  const candle: Candle = {
    open: { seq: rows.uint64(at + 4) as Seq, price: rows.int128(at + 12) },
    close: { seq: rows.uint64(at + 28) as Seq, price: rows.int128(at + 36) },
    high: rows.int128(at + 52),
    low: rows.int128(at + 68),
    volume: rows.int128(at + 84),
    buyVolumeUsd,
    sellVolumeUsd,
    priceVolume: buyVolumeUsd + sellVolumeUsd,
    trades: rows.uint64(at + 132),
  };
  return { bucket: rows.uint32(at), candle };
}
