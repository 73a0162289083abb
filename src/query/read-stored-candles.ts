/**
 * Buckets of the complete minutes. Those of days that are over are in a copy made for charts, of which as
 * many rows are read as it takes; the others are asked of the engine. What a query costs there is the
 * minutes it aggregates, so of a token that is traded much, where the copy is behind, no more of them are
 * read than it takes.
 */

import { storeLimits } from "../base/config/limits.ts";
import type { Seq, TokenId } from "../base/ids.ts";
import type { Range } from "../base/range.ts";
import { type Candle, mergeCandles } from "../market/candle.ts";
import { type NativeBlock, readNativeBlocks } from "../storage/codec/native-blocks.ts";
import { RowReader } from "../storage/codec/row-reader.ts";
import type { Engine } from "../storage/engine.ts";
import { allRowsSettings, inOrderSettings } from "../storage/read-settings.ts";
import { hexLiteral, integerLiteral, listLiteral } from "../storage/sql-literal.ts";
import type { ChartFile } from "../views/charts/chart-file.ts";
import { type ChartRange, ChartsDamagedError } from "../views/charts/chart-reader.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import type { BucketCandle, BucketRange } from "../views/recent/recent-candles.ts";

/** How much a token is traded: but for the newest trade, only how fast it is read depends on it. */
export type Activity = {
  readonly trades: number;
  /** Unix seconds of the newest trade; no trade that is stored is later. */
  readonly lastTimestamp: number;
  /** The minute of the first trade that has a price; `null` without one. */
  readonly firstMinute: number | null;
};

type StoredRange = Omit<BucketRange, "tokenId"> & {
  readonly tokenIds: readonly TokenId[];
  readonly activityOf?: (tokenId: TokenId) => Activity;
};

/** Where candles are. */
type Sources = Pick<IndexedFacts, "engine" | "charts" | "reads">;

type Found = ReadonlyMap<TokenId, readonly BucketCandle[]>;

/** Minutes of a token that are looked through at the same time: `from` inclusive, `to` exclusive. */
type Interval = Range<number> & {
  readonly tokenId: TokenId;
  /** How long the part of it is in which trades are expected. */
  readonly seconds: number;
};

/** The first `limit` buckets of each token in the order asked for, from minutes before `openFrom`. */
export async function readStoredCandles(
  { engine, charts, reads }: Sources,
  range: StoredRange,
  openFrom: number,
): Promise<Found> {
  const { from, to } = boundsOf(range, openFrom);
  if (from >= to || range.tokenIds.length === 0) return new Map();
  const { copied, before } = await readCopied(charts, { ...range, from, to });
  const rest = { from: Math.min(to, Math.max(from, before)), to };
  const tokenIds = range.tokenIds.filter((tokenId) => {
    const isFull = range.order === "asc" && (copied.get(tokenId)?.length ?? 0) >= range.limit;
    const lastTimestamp = range.activityOf?.(tokenId).lastTimestamp ?? rest.to;
    return !isFull && lastTimestamp >= rest.from && rest.from < rest.to;
  });
  if (range.tokenIds.length > 0) reads.add(tokenIds.length > 0 ? "engine" : "charts");
  const asked = await readMinuteBuckets(engine, { ...range, tokenIds }, rest);
  const all = range.tokenIds.map((tokenId) => {
    const parts = [copied.get(tokenId) ?? [], asked.get(tokenId) ?? []];
    const inOrder = range.order === "asc" ? parts : parts.toReversed();
    return [tokenId, inOrder.flat().slice(0, range.limit)] as const;
  });
  return new Map(all);
}

/** What the copy has; nothing when it cannot be read. One that is damaged is made again. */
async function readCopied(
  charts: ChartFile,
  range: ChartRange,
): Promise<{ readonly copied: Found; readonly before: number }> {
  // Before anything is waited for: later the copy may have more days.
  const { before } = charts;
  try {
    const copied = await charts.read(range);
    if (copied !== null) return { copied, before };
  } catch (thrown) {
    if (!(thrown instanceof ChartsDamagedError)) throw thrown;
    // Not for each of those who were reading.
    if (charts.before >= before) charts.reset();
  }
  return { copied: new Map(), before: 0 };
}

/** Of the minutes that the engine has stored. */
async function readMinuteBuckets(
  engine: Engine,
  range: StoredRange,
  bounds: Range<number>,
): Promise<Found> {
  const { activityOf, tokenIds } = range;
  if (tokenIds.length === 0) return new Map();
  const isShort = bounds.to - bounds.from <= storeLimits.minutesMergedSeconds;
  const isQuiet = (tokenId: TokenId): boolean =>
    activityOf !== undefined && activityOf(tokenId).trades <= storeLimits.minutesMerged;
  return isShort || tokenIds.every(isQuiet)
    ? mergeMinutes(engine, range, { ...bounds, isShort })
    : searchBuckets(engine, range, bounds);
}

/** Where minutes are few: all of them, merged here in less time than by the engine. */
async function mergeMinutes(
  engine: Engine,
  range: StoredRange,
  bounds: MinuteBounds,
): Promise<Found> {
  const { tokenIds, bucketSeconds, order, limit } = range;
  const found = new Map(tokenIds.map((tokenId) => [tokenId, new Map<number, Candle>()]));
  const minutes = await readMinutes(engine, tokenIds, bounds);
  for (const { tokenId, bucket: minute, candle } of minutes) {
    const buckets = found.get(tokenId);
    const bucket = minute - (minute % bucketSeconds);
    const known = buckets?.get(bucket);
    buckets?.set(bucket, known === undefined ? candle : mergeCandles(known, candle));
  }
  const sign = order === "asc" ? 1 : -1;
  const firstOf = (buckets: ReadonlyMap<number, Candle>): readonly BucketCandle[] =>
    [...buckets]
      .toSorted(([a], [b]) => sign * (a - b))
      .slice(0, limit)
      .map(([bucket, candle]) => ({ bucket, candle }));
  return new Map([...found].map(([tokenId, buckets]) => [tokenId, firstOf(buckets)]));
}

/** Of tokens that are traded much: range by range, each made into buckets by the engine. */
async function searchBuckets(
  engine: Engine,
  range: StoredRange,
  bounds: Range<number>,
): Promise<Found> {
  const found = new Map<TokenId, BucketCandle[]>();
  let ranges = firstIntervals(range, bounds);
  while (ranges.length > 0) {
    for (const { tokenId, ...bucket } of await readBuckets(engine, ranges, range)) {
      const buckets = found.get(tokenId);
      if (buckets === undefined) found.set(tokenId, [bucket]);
      else buckets.push(bucket);
    }
    ranges = ranges.flatMap((interval) => {
      const isFull = (found.get(interval.tokenId)?.length ?? 0) >= range.limit;
      return isFull ? [] : nextInterval(interval, range, bounds);
    });
  }
  return new Map([...found].map(([tokenId, buckets]) => [tokenId, buckets.slice(0, range.limit)]));
}

/** Short ones are minutes of some days; of tokens that are traded little it may be any time. */
type MinuteBounds = Range<number> & { readonly isShort: boolean };

/** A bucket is asked for by its start: all of its complete minutes or none. */
function boundsOf({ bucketSeconds, from, to }: StoredRange, openFrom: number): Range<number> {
  const minuteAt = (time: number): number =>
    Math.min(openFrom, Math.ceil(time / bucketSeconds) * bucketSeconds);
  return { from: minuteAt(from), to: minuteAt(to) };
}

/** Where the first buckets of each token are likely to be; all of it for those traded little. */
function firstIntervals(range: StoredRange, bounds: Range<number>): readonly Interval[] {
  const { tokenIds, activityOf, order } = range;
  return tokenIds.map((tokenId) => {
    const activity = activityOf?.(tokenId);
    const seconds = activity === undefined ? 0 : expectedSeconds(activity, range);
    const whole = { tokenId, ...bounds, seconds };
    if (activity === undefined || activity.trades <= storeLimits.minutesAtOnce) return whole;
    // What is sent may not be the first or the newest one stored, so nothing before or above is left out.
    const { firstMinute, lastTimestamp } = activity;
    return order === "asc"
      ? cut(whole, range, Math.max(bounds.from, firstMinute ?? 0) + seconds)
      : cut(whole, range, Math.min(bounds.to, lastTimestamp) - seconds);
  });
}

/** A match has some legs, and one trade brings on others: so many of them are in the same bucket. */
const tradesAtOnce = 4;

/**
 * The time that all buckets asked for take, were those bursts spread evenly: where few buckets are without
 * trades no more than they are long, where most are twice as much, as bursts are not.
 */
function expectedSeconds(activity: Activity, { limit, bucketSeconds }: StoredRange): number {
  const lifeSeconds = lifeOf(activity) + bucketSeconds;
  const burstsPerBucket = (activity.trades / tradesAtOnce / lifeSeconds) * bucketSeconds;
  const shareTraded = 1 - Math.exp(-burstsPerBucket);
  return (limit * bucketSeconds * (2 - shareTraded)) / shareTraded;
}

/** From the first trade to the newest, in seconds. */
function lifeOf({ firstMinute, lastTimestamp }: Activity): number {
  return Math.max(0, lastTimestamp - (firstMinute ?? lastTimestamp));
}

/** What follows a range, several times as wide; nothing at the end. */
function nextInterval(
  interval: Interval,
  range: StoredRange,
  bounds: Range<number>,
): readonly Interval[] {
  const { tokenId, from, to } = interval;
  const seconds = interval.seconds * widerBy;
  if (range.order === "asc") {
    if (to >= bounds.to) return [];
    return [cut({ tokenId, from: to, to: bounds.to, seconds }, range, to + seconds)];
  }
  if (from <= bounds.from) return [];
  return [cut({ tokenId, from: bounds.from, to: from, seconds }, range, from - seconds)];
}

const widerBy = 8;

/** The part of a range that comes first, up to about a time, in whole buckets. */
function cut(interval: Interval, { order, bucketSeconds }: StoredRange, time: number): Interval {
  const at = Math.ceil(time / bucketSeconds) * bucketSeconds;
  return order === "asc"
    ? { ...interval, to: Math.min(interval.to, at) }
    : { ...interval, from: Math.max(interval.from, at - bucketSeconds) };
}

type OwnBucket = BucketCandle & { readonly tokenId: TokenId };

/**
 * A price with its position is taken apart: the engine compares pairs as objects, value by value,
 * which made the buckets of 30,000 minutes cost four times as much.
 */
async function readBuckets(
  engine: Engine,
  ranges: readonly Interval[],
  { bucketSeconds, order, limit }: StoredRange,
): Promise<readonly OwnBucket[]> {
  const asked = ranges.filter(({ from, to }) => from < to);
  if (asked.length === 0) return [];
  const seconds = integerLiteral(bucketSeconds);
  const bytes = await engine.queryNative(
    `SELECT token_id, toUInt32(intDiv(minute, ${seconds}) * ${seconds}) AS bucket,
       min(open.1), argMin(open.2, open.1), max(close.1), argMax(close.2, close.1), max(high), min(low),
       sum(volume), sum(buy_volume_usd), sum(sell_volume_usd), sum(trades) AS priced
     FROM oddwire.minute_candles WHERE (${within(asked)}) AND trades > 0
     GROUP BY token_id, bucket ORDER BY bucket ${order === "asc" ? "ASC" : "DESC"}
     LIMIT ${integerLiteral(limit)} BY token_id SETTINGS ${inOrderSettings}`,
  );
  return [...readNativeBlocks(bytes, bucketBytes)].flatMap((block) => [...bucketsOf(block)]);
}

/**
 * In no order, and a minute as often as there are parts with some of it. Of tokens that are traded little
 * all minutes are read, and what was not asked for is left out here: a condition takes longer to plan than
 * their rows do.
 */
async function readMinutes(
  engine: Engine,
  tokenIds: readonly TokenId[],
  { from, to, isShort }: MinuteBounds,
): Promise<readonly OwnBucket[]> {
  const since = isShort ? `AND minute >= ${integerLiteral(from)}` : "";
  const bytes = await engine.queryNative(
    `SELECT token_id, minute, open.1, open.2, close.1, close.2, high, low,
       volume, buy_volume_usd, sell_volume_usd, trades
     FROM oddwire.minute_candles WHERE token_id IN ${listLiteral(tokenIds.map(hexLiteral))} ${since}
     SETTINGS ${allRowsSettings}`,
  );
  return [...readNativeBlocks(bytes, bucketBytes)]
    .flatMap((block) => [...bucketsOf(block)])
    .filter(({ bucket: minute, candle }) => candle.trades > 0 && minute >= from && minute < to);
}

function within(ranges: readonly Interval[]): string {
  return ranges
    .map(
      ({ tokenId, from, to }) =>
        `(token_id = ${hexLiteral(tokenId)}
          AND minute >= ${integerLiteral(from)} AND minute < ${integerLiteral(to)})`,
    )
    .join(" OR ");
}

/** How wide the columns of buckets are. */
const bucketBytes = [32, 4, 8, 16, 8, 16, 16, 16, 16, 16, 16, 8] as const;

function* bucketsOf({ rows, columns }: NativeBlock): Generator<OwnBucket, void, undefined> {
  const [ids = none, buckets = none, ...prices] = columns.map(readerOf);
  const [openSeqs = none, opens = none, closeSeqs = none, closes = none, ...rest] = prices;
  const [highs = none, lows = none, volumes = none, buys = none, sells = none, trades = none] =
    rest;
  for (let row = 0; row < rows; row += 1) {
    const buyVolumeUsd = buys.int128(16 * row);
    const sellVolumeUsd = sells.int128(16 * row);
    const candle = {
      open: { seq: openSeqs.uint64(8 * row) as Seq, price: opens.int128(16 * row) },
      close: { seq: closeSeqs.uint64(8 * row) as Seq, price: closes.int128(16 * row) },
      high: highs.int128(16 * row),
      low: lows.int128(16 * row),
      volume: volumes.int128(16 * row),
      buyVolumeUsd,
      sellVolumeUsd,
      priceVolume: buyVolumeUsd + sellVolumeUsd,
      trades: trades.uint64(8 * row),
    };
    yield { tokenId: ids.tokenId(32 * row), bucket: buckets.uint32(4 * row), candle };
  }
}

function readerOf(column: Buffer): RowReader {
  return new RowReader(column);
}

/** Every block has all of its columns. */
const none = readerOf(Buffer.alloc(0));
