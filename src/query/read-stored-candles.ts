/**
 * Buckets of the complete minutes in the engine. Those of an hour and longer are made of its hours, up to the one
 * that is not over, and of the minutes behind it.
 */
import type { Seq, TokenId } from "../base/ids.ts";
import type { Range } from "../base/range.ts";
import { settleAll } from "../base/time/settle-all.ts";
import { mergeCandles, resolutionSeconds } from "../market/candle.ts";
import type { TokenTotals } from "../market/market.ts";
import { minuteOf } from "../market/minute-candle.ts";
import { type ColumnBlock, readColumns } from "../storage/codec/native-blocks.ts";
import type { Engine } from "../storage/engine/engine.ts";
import { inOrderSettings } from "../storage/read-settings.ts";
import { hexLiteral, integerLiteral } from "../storage/sql-literal.ts";
import type { BucketCandle, BucketRange } from "../views/recent/recent-candles.ts";

/** A table of candles, by how many seconds of a token it has a row. */
type Source = { readonly table: string; readonly seconds: number };

const minutes: Source = { table: "minute_candles", seconds: resolutionSeconds["1m"] };
const hours: Source = { table: "hour_candles", seconds: resolutionSeconds["1h"] };

/** How often a token was traded, and when. Trades that came later than those which are read may count too. */
export type CandleTotals = Pick<TokenTotals, "trades" | "firstMinute" | "lastTimestamp">;

/** A token and, where they are known, its totals. */
type TradedToken = { readonly tokenId: TokenId; readonly totals: CandleTotals | undefined };

/** What is asked for of each token. */
type Asked = Omit<BucketRange, "tokenId">;

/** A part of the time of a token, and how many trades it has in all, `Infinity` where that is not known. */
type TokenRange = Range<number> & { readonly tokenId: TokenId; readonly trades: number };

/** What to read of a table. */
type TablePart = { readonly source: Source; readonly ranges: readonly TokenRange[] };

/** A bucket of a token and how many rows it was made of. */
type Bucket = BucketCandle & { readonly tokenId: TokenId; readonly rows: number };

/** So few rows are read as they are: to put them in order and into buckets is half of a query for the engine. */
const fewRows = 1000;

/**
 * The first `limit` buckets of each token in the order asked for, and maybe more, of minutes before `openFrom`. The
 * parts of a bucket are apart. Where both tokens of a market are read whole, one query costs little more than for one.
 */
export async function readStoredCandles(
  engine: Engine,
  asked: Asked,
  { tokens, openFrom }: { readonly tokens: readonly TradedToken[]; readonly openFrom: number },
): Promise<ReadonlyMap<TokenId, readonly BucketCandle[]>> {
  const ranges = tokens.map((token) => rangeOf(asked, token, openFrom));
  const found = await settleAll(
    tablesOf(asked, ranges, openFrom).map(async (part) => readTable(engine, asked, part)),
  );
  return Map.groupBy(found.flat(), ({ tokenId }) => tokenId);
}

/** A bucket is asked for by its start: all of its complete minutes or none. */
function rangeOf(
  { bucketSeconds, from, to }: Asked,
  { tokenId, totals }: TradedToken,
  openFrom: number,
): TokenRange {
  const end = Math.min(openFrom, minuteOf(totals?.lastTimestamp ?? openFrom) + 60);
  const first = totals === undefined ? 0 : (totals.firstMinute ?? end);
  const minuteAt = (time: number): number =>
    Math.min(end, Math.ceil(time / bucketSeconds) * bucketSeconds);
  return {
    tokenId,
    trades: totals?.trades ?? Infinity,
    from: minuteAt(Math.max(from, first - (first % bucketSeconds))),
    to: minuteAt(to),
  };
}

/** The hours have what is over of buckets that consist of hours, the minutes the rest. */
function tablesOf(
  { bucketSeconds }: Asked,
  ranges: readonly TokenRange[],
  openFrom: number,
): readonly TablePart[] {
  const isOfHours = bucketSeconds % hours.seconds === 0;
  const openHour = isOfHours ? openFrom - (openFrom % hours.seconds) : 0;
  const parts = [
    { source: hours, ranges: ranges.map((one) => ({ ...one, to: Math.min(one.to, openHour) })) },
    {
      source: minutes,
      ranges: ranges.map((one) => ({ ...one, from: Math.max(one.from, openHour) })),
    },
  ];
  return parts
    .map((part) => ({ ...part, ranges: part.ranges.filter(({ from, to }) => from < to) }))
    .filter((part) => part.ranges.length > 0);
}

/** Reads the ranges whole where they cannot have many more buckets than are asked for. */
async function readTable(
  engine: Engine,
  asked: Asked,
  part: TablePart,
): Promise<readonly Bucket[]> {
  const { bucketSeconds, limit } = asked;
  const { source, ranges } = part;
  const rowsMax = ranges.map(({ from, to, trades }) =>
    Math.min(trades, (to - from) / source.seconds),
  );
  const areFew = rowsMax.reduce((sum, rows) => sum + rows, 0) <= fewRows;
  const areShort = ranges.every(({ from, to }) => (to - from) / bucketSeconds <= 2 * limit);
  if (!areFew && !areShort) {
    const found = ranges.map(async (range) => readFirst(engine, source, { ...asked, ...range }));
    return (await settleAll(found)).flat();
  }
  const isGrouped = !areFew && bucketSeconds !== source.seconds;
  return readBuckets(engine, source, { bucketSeconds, isGrouped, clauses: whereOf(ranges) });
}

/**
 * The first buckets of one token. Rows are read in order, as many as the buckets can have: a token that is traded much
 * costs no more than others. Where parts of the table have rows of the same time, that may be too few, and the buckets
 * from the last one on are read again.
 */
async function readFirst(
  engine: Engine,
  source: Source,
  { bucketSeconds, order, limit, ...range }: Asked & TokenRange,
): Promise<readonly Bucket[]> {
  const time = source.seconds === minutes.seconds ? "minute" : `intDiv(minute, ${source.seconds})`;
  const isGrouped = bucketSeconds !== source.seconds;
  const found: Bucket[] = [];
  let { from, to } = range;
  let rowsMax = (limit + 1) * Math.max(1, bucketSeconds / source.seconds);
  while (from < to && found.length < limit) {
    const clauses = `${whereOf([{ ...range, from, to }])}
      ORDER BY token_id ${order}, ${time} ${order} LIMIT ${integerLiteral(rowsMax)}`;
    const read = await readBuckets(engine, source, { bucketSeconds, isGrouped, clauses });
    const buckets = merge(read, order);
    const rows = buckets.reduce((sum, bucket) => sum + bucket.rows, 0);
    const isAll = rows < rowsMax;
    const last = buckets.at(-1);
    found.push(...(isAll ? buckets : buckets.slice(0, -1)));
    if (isAll || last === undefined) break;
    if (buckets.length === 1) rowsMax *= 2;
    if (order === "asc") from = last.bucket;
    else to = Math.min(to, last.bucket + bucketSeconds);
  }
  return found;
}

function whereOf(ranges: readonly TokenRange[]): string {
  const each = ranges.map(({ tokenId, from, to }) => {
    const time = `minute >= ${integerLiteral(from)} AND minute < ${integerLiteral(to)}`;
    return `(token_id = ${hexLiteral(tokenId)} AND ${time})`;
  });
  return `WHERE trades > 0 AND (${each.join(" OR ")})`;
}

/** Each bucket of a token once, in order. */
function merge(parts: readonly Bucket[], order: "asc" | "desc"): readonly Bucket[] {
  const merged = new Map<number, Bucket>();
  for (const part of parts) {
    const known = merged.get(part.bucket);
    const candle = known === undefined ? part.candle : mergeCandles(known.candle, part.candle);
    merged.set(part.bucket, { ...part, candle, rows: part.rows + (known?.rows ?? 0) });
  }
  const sign = order === "asc" ? 1 : -1;
  return [...merged.values()].toSorted((a, b) => sign * (a.bucket - b.bucket));
}

/** Columns of buckets: how they are made of a row of a table and of several of these, and how many bytes they have. */
const columns = {
  token_id: ["token_id", "token_id", 32],
  bucket: ["bucket", "bucket", 4],
  // Price and position are apart, as the engine compares pairs four times slower.
  open_seq: ["open.1", "min(open_seq)", 8],
  open_price: ["open.2", "argMin(open_price, open_seq)", 16],
  close_seq: ["close.1", "max(close_seq)", 8],
  close_price: ["close.2", "argMax(close_price, close_seq)", 16],
  high: ["high", "max(high)", 16],
  low: ["low", "min(low)", 16],
  volume: ["volume", "sum(volume)", 16],
  buy_volume_usd: ["buy_volume_usd", "sum(buy_volume_usd)", 16],
  sell_volume_usd: ["sell_volume_usd", "sum(sell_volume_usd)", 16],
  trades: ["trades", "sum(trades)", 8],
  rows: ["toUInt64(1)", "count()", 8],
} as const;
type Name = keyof typeof columns;

type BucketQuery = {
  readonly bucketSeconds: number;
  readonly isGrouped: boolean;
  readonly clauses: string;
};

/** The buckets of the rows that some clauses select, one for each row or, grouped, one for all of a time. */
async function readBuckets(
  engine: Engine,
  { table }: Source,
  { bucketSeconds, isGrouped, clauses }: BucketQuery,
): Promise<readonly Bucket[]> {
  const start = `toUInt32(intDiv(minute, ${bucketSeconds}) * ${bucketSeconds})`;
  const names = Object.keys(columns) as Name[];
  const ofRow = (name: Name): string =>
    `${name === "bucket" ? start : columns[name][0]} AS ${name}`;
  const rows = `FROM ${table} ${clauses}`;
  const source = isGrouped
    ? `FROM (SELECT ${names.map(ofRow).join()} ${rows}) GROUP BY token_id, bucket`
    : rows;
  const selected = names.map((name) => {
    const [, ofRows, bytes] = columns[name];
    return [name, [isGrouped ? ofRows : ofRow(name), bytes]] as const;
  });
  const settings = `${inOrderSettings}, optimize_move_to_prewhere = 0`;
  const blocks = await readColumns(
    engine,
    Object.fromEntries(selected) as Record<Name, readonly [string, number]>,
    `${source} SETTINGS ${settings}`,
  );
  return blocks.flatMap((block) => [...bucketsOf(block)]);
}

function* bucketsOf({ rows, of }: ColumnBlock<Name>): Generator<Bucket, void, undefined> {
  for (let row = 0; row < rows; row += 1) {
    const buyVolumeUsd = of.buy_volume_usd.int128(16 * row);
    const sellVolumeUsd = of.sell_volume_usd.int128(16 * row);
    const price = (which: "open" | "close") => ({
      seq: of[`${which}_seq`].uint64(8 * row) as Seq,
      price: of[`${which}_price`].int128(16 * row),
    });
    const candle = {
      open: price("open"),
      close: price("close"),
      high: of.high.int128(16 * row),
      low: of.low.int128(16 * row),
      volume: of.volume.int128(16 * row),
      buyVolumeUsd,
      sellVolumeUsd,
      priceVolume: buyVolumeUsd + sellVolumeUsd,
      trades: of.trades.uint64(8 * row),
    };
    yield {
      tokenId: of.token_id.tokenId(32 * row),
      bucket: of.bucket.uint32(4 * row),
      candle,
      rows: of.rows.uint64(8 * row),
    };
  }
}
