/**
 * Buckets of the complete minutes in the engine. Those of an hour and longer are made of its hours, up to the one
 * that is not over, and of the minutes behind it.
 */
import type { Seq } from "../base/ids.ts";
import type { Range } from "../base/range.ts";
import { settleAll } from "../base/time/settle-all.ts";
import { mergeCandles, resolutionSeconds } from "../market/candle.ts";
import { minuteOf } from "../market/minute-candle.ts";
import { type NativeBlock, readNativeBlocks } from "../storage/codec/native-blocks.ts";
import { RowReader } from "../storage/codec/row-reader.ts";
import type { Engine } from "../storage/engine/engine.ts";
import { inOrderSettings } from "../storage/read-settings.ts";
import { hexLiteral, integerLiteral } from "../storage/sql-literal.ts";
import type { BucketCandle, BucketRange } from "../views/recent/recent-candles.ts";

/** A table of candles, by how many seconds of a token it has a row. */
type Source = { readonly table: string; readonly seconds: number };

const minutes: Source = { table: "minute_candles", seconds: resolutionSeconds["1m"] };
const hours: Source = { table: "hour_candles", seconds: resolutionSeconds["1h"] };

/**
 * The first `limit` buckets of a token in the order asked for, from minutes before `openFrom`. No trade is later than
 * `newest`. Both in unix seconds.
 */
export async function readStoredCandles(
  engine: Engine,
  range: BucketRange,
  { openFrom, newest }: { readonly openFrom: number; readonly newest: number },
): Promise<readonly BucketCandle[]> {
  const { from, to } = boundsOf(range, Math.min(openFrom, minuteOf(newest) + 60));
  const openHour = openFrom - (openFrom % hours.seconds);
  const isOfHours = range.bucketSeconds % hours.seconds === 0;
  const split = isOfHours ? Math.min(to, Math.max(from, openHour)) : from;
  const parts = await settleAll([
    readBuckets(engine, hours, { ...range, from, to: split }),
    readBuckets(engine, minutes, { ...range, from: split, to }),
  ]);
  return merge(range.order === "asc" ? parts : parts.toReversed()).slice(0, range.limit);
}

/** A bucket is asked for by its start: all of its complete minutes or none. */
function boundsOf({ bucketSeconds, from, to }: BucketRange, openFrom: number): Range<number> {
  const minuteAt = (time: number): number =>
    Math.min(openFrom, Math.ceil(time / bucketSeconds) * bucketSeconds);
  return { from: minuteAt(from), to: minuteAt(to) };
}

/** One list of several that follow each other, where one may begin with the bucket that the last one ended in. */
function merge(lists: readonly (readonly CountedBucket[])[]): CountedBucket[] {
  const merged: CountedBucket[] = [];
  for (const next of lists.flat()) {
    const last = merged.at(-1);
    if (last?.bucket === next.bucket) {
      const candle = mergeCandles(last.candle, next.candle);
      merged[merged.length - 1] = { ...last, candle, rows: last.rows + next.rows };
    } else merged.push(next);
  }
  return merged;
}

/**
 * The first `limit` buckets of a table. Rows are read in order, as many as the buckets can have: a token that is
 * traded much costs no more than others. Where parts of the table have rows of the same time, that may be too few,
 * and the buckets from the last one on are read again.
 */
async function readBuckets(
  engine: Engine,
  source: Source,
  range: BucketRange,
): Promise<readonly CountedBucket[]> {
  const { bucketSeconds, order, limit } = range;
  const found: CountedBucket[] = [];
  let { from, to } = range;
  let rowsMax = (limit + 1) * Math.max(1, bucketSeconds / source.seconds);
  while (from < to && found.length < limit) {
    const buckets = await readSome(engine, source, { ...range, from, to, limit: rowsMax });
    const rows = buckets.reduce((sum, bucket) => sum + bucket.rows, 0);
    const isAll = rows < rowsMax;
    const last = buckets.at(-1);
    found.push(...(isAll ? buckets : buckets.slice(0, -1)));
    if (isAll || last === undefined) break;
    if (buckets.length === 1) rowsMax *= 2;
    if (order === "asc") from = last.bucket;
    else to = Math.min(to, last.bucket + bucketSeconds);
  }
  return found.slice(0, limit);
}

type CountedBucket = BucketCandle & { readonly rows: number };

/** The buckets of the first `limit` rows. Where a row is a bucket the engine aggregates nothing: planning that costs a third of the query. */
async function readSome(
  engine: Engine,
  { table, seconds }: Source,
  { tokenId, bucketSeconds, from, to, order, limit: rowsMax }: BucketRange,
): Promise<readonly CountedBucket[]> {
  const time = seconds === minutes.seconds ? "minute" : `intDiv(minute, ${seconds})`;
  const bucket = integerLiteral(bucketSeconds);
  const rows = `SELECT toUInt32(intDiv(minute, ${bucket}) * ${bucket}) AS bucket,
      open.1 AS open_seq, open.2 AS open_price, close.1 AS close_seq, close.2 AS close_price,
      high, low, volume, buy_volume_usd, sell_volume_usd, trades, toUInt64(1)
    FROM ${table}
    WHERE token_id = ${hexLiteral(tokenId)} AND trades > 0
      AND minute >= ${integerLiteral(from)} AND minute < ${integerLiteral(to)}
    ORDER BY token_id ${order}, ${time} ${order} LIMIT ${integerLiteral(rowsMax)}`;
  const sql = bucketSeconds === seconds ? rows : bucketsSql(rows, order);
  const settings = `${inOrderSettings}, optimize_move_to_prewhere = 0, max_block_size = ${integerLiteral(rowsMax)}`;
  const bytes = await engine.queryNative(`${sql} SETTINGS ${settings}`);
  return merge([...readNativeBlocks(bytes, columnBytes)].map((block) => [...bucketsOf(block)]));
}

/** Rows made into buckets; price and position are apart, as the engine compares pairs four times slower. */
function bucketsSql(rows: string, order: BucketRange["order"]): string {
  return `SELECT bucket,
      min(open_seq), argMin(open_price, open_seq), max(close_seq), argMax(close_price, close_seq),
      max(high), min(low), sum(volume), sum(buy_volume_usd), sum(sell_volume_usd), sum(trades), count()
    FROM (${rows}) GROUP BY bucket ORDER BY bucket ${order}`;
}

/** How wide the columns of buckets are. */
const columnBytes = [4, 8, 16, 8, 16, 16, 16, 16, 16, 16, 8, 8] as const;

function* bucketsOf({ rows, columns }: NativeBlock): Generator<CountedBucket, void, undefined> {
  const readers = columns.map((column) => new RowReader(column));
  const [buckets = none, openSeqs = none, opens = none, closeSeqs = none, ...others] = readers;
  const [closes = none, highs = none, lows = none, volumes = none, ...sums] = others;
  const [buys = none, sells = none, trades = none, counts = none] = sums;
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
    yield { bucket: buckets.uint32(4 * row), candle, rows: counts.uint64(8 * row) };
  }
}

/** Every block has all of its columns. */
const none = new RowReader(Buffer.alloc(0));
