/**
 * The far end of `chart-rollup.ts`: puts the candles of some days, whose minutes are in a file, into the
 * copy, all of them or none. The minutes come by token, then by time; one that is stored in parts comes as
 * often. Nothing of the engine may be loaded here: it would end with the thread.
 */
import { closeSync, openSync, readSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { workerData } from "node:worker_threads";
import { assert } from "../../base/assert.ts";
import type { Seq } from "../../base/ids.ts";
import { type Candle, resolutionSeconds } from "../../market/candle.ts";
import { RowReader } from "../../storage/codec/row-reader.ts";
import type { BucketCandle } from "../recent/recent-candles.ts";
import { type ChartLevel, chartLevels, openChartDatabase } from "./chart-database.ts";
import type { ChartStep } from "./chart-rollup.ts";
import { packCandles } from "./pack-candles.ts";
import { sumUpCandles } from "./sum-up-candles.ts";

const { "1m": minuteSeconds, "1h": hourSeconds, "1d": daySeconds } = resolutionSeconds;

const tokenBytes = 32;
/** Of a row: the token, the minute, open and close with their positions, five amounts, how many trades. */
const rowBytes = tokenBytes + 4 + 2 * (8 + 16) + 5 * 16 + 8;
const rowsAtOnce = 16_384;

/** The longest row. It has to fit into a quarter of a page, else SQLite keeps the rest of it in pages of its own. */
const rangeBytesMax = 3_900;

/** The largest buckets that are made of a level, which no row may have a part of. */
const wholeSeconds: Readonly<Record<ChartLevel, number>> = {
  [chartLevels.minutes]: hourSeconds,
  [chartLevels.hours]: daySeconds,
  [chartLevels.days]: daySeconds,
};

/** Puts candles behind those that there are of a token. */
type Put = (token: Buffer, level: ChartLevel, candles: readonly BucketCandle[]) => void;

/** A row. */
type Interval = { readonly start: number; readonly count: number; readonly candles: Uint8Array };

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
  const readLast = sql.prepare(
    "SELECT start, count, candles FROM ranges WHERE token = ? AND level = ? ORDER BY start DESC LIMIT 1",
  );
  const write = sql.prepare("INSERT OR REPLACE INTO ranges VALUES (?, ?, ?, ?, ?)");
  return (token, level, candles) => {
    const last = readLast.get(token, level) as Interval | undefined;
    const known = last === undefined ? [] : [last];
    for (const { start, count, candles: packed } of joined([...known, ...piecesOf(candles, level)]))
      write.run(token, level, start, count, packed);
  };
}

/** The smallest ranges that candles can be known in. */
function* piecesOf(candles: readonly BucketCandle[], level: ChartLevel): Generator<Interval> {
  const whole = wholeSeconds[level];
  for (let from = 0; from < candles.length; ) {
    const start = candles[from]?.bucket ?? 0;
    const end = start - (start % whole) + whole;
    let to = from + 1;
    while (to < candles.length && (candles[to]?.bucket ?? end) < end) to += 1;
    yield { start, count: to - from, candles: packCandles(candles.slice(from, to)) };
    from = to;
  }
}

/** Joins ranges as long as they are not too long. */
function* joined(ranges: readonly Interval[]): Generator<Interval> {
  let pieces: Interval[] = [];
  for (const interval of ranges) {
    const bytes = pieces.reduce((sum, { candles }) => sum + candles.length, 0);
    if (pieces.length > 0 && bytes + interval.candles.length > rangeBytesMax) {
      yield joinedOf(pieces);
      pieces = [];
    }
    pieces.push(interval);
  }
  if (pieces.length > 0) yield joinedOf(pieces);
}

function joinedOf(pieces: readonly Interval[]): Interval {
  return {
    start: pieces[0]?.start ?? 0,
    count: pieces.reduce((sum, { count }) => sum + count, 0),
    candles: Buffer.concat(pieces.map(({ candles }) => candles)),
  };
}

/** One token after the other, all of its minutes at the same time. */
function putDays(rowsPath: string, put: Put): void {
  let token = Buffer.alloc(0);
  let minutes: BucketCandle[] = [];
  for (const { token: nextToken, minute } of readRows(rowsPath)) {
    if (!token.equals(nextToken)) {
      putToken(token, minutes, put);
      token = Buffer.from(nextToken);
      minutes = [];
    }
    minutes.push(minute);
  }
  putToken(token, minutes, put);
}

function putToken(token: Buffer, parts: readonly BucketCandle[], put: Put): void {
  if (parts.length === 0) return;
  const minutes = sumUpCandles(parts, minuteSeconds);
  const hours = sumUpCandles(minutes, hourSeconds);
  put(token, chartLevels.minutes, minutes);
  put(token, chartLevels.hours, hours);
  put(token, chartLevels.days, sumUpCandles(hours, daySeconds));
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
