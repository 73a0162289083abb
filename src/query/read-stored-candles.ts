/**
 * Reads buckets of the complete minutes in the engine. Buckets of an hour or longer come from `hour_candles`, up to the
 * open hour, and from `minute_candles` after that.
 */
import type { TokenId } from "../base/ids.ts";
import type { Range } from "../base/range.ts";
import { settleAll } from "../base/time/settle-all.ts";
import { type BucketCandle, mergeBuckets, resolutionSeconds } from "../market/candle.ts";
import type { TokenTotals } from "../market/market.ts";
import { toMinute } from "../market/minute-candle.ts";
import { type Offsets, readRows } from "../storage/codec/fixed-rows.ts";
import type { RowReader } from "../storage/codec/row-reader.ts";
import type { Engine } from "../storage/engine/engine.ts";
import { inOrderSettings } from "../storage/engine/read-settings.ts";
import { hexLiteral, integerLiteral } from "../storage/sql-literal.ts";
import { isIn } from "./condition.ts";

/** Buckets of tokens' own final trades, by their starts in Unix seconds: `from` inclusive, `to` exclusive. */
export type BucketRange = Range<number> & {
  readonly bucketSeconds: number;
  readonly order: "asc" | "desc";
  readonly limit: number;
  /** Returns the totals of a token, which bound the minutes that have candles. */
  readonly getTotals?: (tokenId: TokenId) => CandleTotals;
};

/** A table of candles, and the seconds that a row covers. */
type Source = { readonly table: string; readonly seconds: number };

const minutes: Source = { table: "minute_candles", seconds: resolutionSeconds["1m"] };
const hours: Source = { table: "hour_candles", seconds: resolutionSeconds["1h"] };

/** A token's number of trades, and their first and last time. They can include trades newer than the ones read. */
export type CandleTotals = Pick<TokenTotals, "trades" | "firstMinute" | "lastTimestamp">;

/** A time range of a token in unix seconds, and its number of trades at all times; `Infinity` when unknown. */
type TokenRange = Range<number> & { readonly tokenId: TokenId; readonly trades: number };

type TablePart = { readonly source: Source; readonly ranges: readonly TokenRange[] };

/** A bucket of a token, and the number of rows that it was made of. */
type Bucket = BucketCandle & { readonly tokenId: TokenId; readonly rows: number };

/** Up to this many rows are read unsorted and ungrouped: sorting and grouping would take half of the query's time. */
const fewRows = 1000;
/** Both outcomes on both ledgers. Up to this many tokens are read one by one, more of them together. */
const fewTokens = 4;

/**
 * Reads the first `limit` buckets of each token, and possibly more, from minutes before `openFrom`. A bucket can come
 * in several parts, and the buckets in any order. When all tokens are read whole, one query reads them, which costs
 * little more than reading one.
 */
export async function readStoredCandles(
  engine: Engine,
  request: BucketRange,
  { tokenIds, openFrom }: { readonly tokenIds: readonly TokenId[]; readonly openFrom: number },
): Promise<ReadonlyMap<TokenId, readonly BucketCandle[]>> {
  const ranges = tokenIds.map((tokenId) => getRange(request, tokenId, openFrom));
  const found = await settleAll(
    getTables(request, ranges, openFrom).map(async (part) => readTable(engine, request, part)),
  );
  return Map.groupBy(found.flat(), ({ tokenId }) => tokenId);
}

/** Returns the minutes to read of a token. A bucket that starts in the range is read with all its complete minutes. */
function getRange(
  { bucketSeconds, from, to, getTotals }: BucketRange,
  tokenId: TokenId,
  openFrom: number,
): TokenRange {
  const totals = getTotals?.(tokenId);
  const end = Math.min(openFrom, toMinute(totals?.lastTimestamp ?? openFrom) + 60);
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

/** Splits ranges by table: for buckets of hours, closed hours come from `hour_candles`; minutes supply the rest. */
function getTables(
  { bucketSeconds }: BucketRange,
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

/** Reads whole the ranges that cannot have many more buckets than requested; of the others only their first buckets. */
async function readTable(
  engine: Engine,
  request: BucketRange,
  { source, ranges }: TablePart,
): Promise<readonly Bucket[]> {
  const { bucketSeconds, order, limit } = request;
  const isMany = ranges.length > fewTokens;
  const rowsMax = ranges.map(({ from, to, trades }) =>
    Math.min(trades, (to - from) / source.seconds),
  );
  const areFew = rowsMax.reduce((sum, rows) => sum + rows, 0) <= fewRows;
  const isWhole = ({ from, to }: TokenRange, at: number): boolean =>
    areFew || (to - from) / bucketSeconds <= 2 * limit || (isMany && (rowsMax[at] ?? 0) <= fewRows);
  const whole = ranges.filter(isWhole);
  const others = ranges.filter((range, at) => !isWhole(range, at));
  const isGrouped = !areFew && (isMany || bucketSeconds !== source.seconds);
  const found: Promise<readonly Bucket[]>[] = [];
  if (whole.length > 0) {
    const first = isGrouped && isMany ? limitByToken({ order, limit }) : "";
    const query = { bucketSeconds, isGrouped, clauses: `WHERE ${toWindow(whole)}`, first };
    found.push(readBuckets(engine, source, query));
  }
  if (isMany && others.length > 0)
    found.push(readTogether(engine, source, { ...request, ranges: others }));
  else
    found.push(
      ...others.map(async (range) => readInOrder(engine, source, { ...request, ...range })),
    );
  return (await settleAll(found)).flat();
}

/**
 * Reads the first buckets of one token: as many rows, in order, as they can have, so that the cost does not grow with
 * its trades. Unmerged parts of the table can have several rows of one time. If buckets are missing, it reads on from
 * the last one.
 */
async function readInOrder(
  engine: Engine,
  source: Source,
  { bucketSeconds, order, limit, ...range }: BucketRange & TokenRange,
): Promise<readonly Bucket[]> {
  const time = source.seconds === minutes.seconds ? "minute" : `intDiv(minute, ${source.seconds})`;
  const isGrouped = bucketSeconds !== source.seconds;
  const found: Bucket[] = [];
  let { from, to } = range;
  let rowsMax = (limit + 1) * Math.max(1, bucketSeconds / source.seconds);
  while (from < to && found.length < limit) {
    const clauses = `WHERE ${toWindow([{ ...range, from, to }])}
      ORDER BY token_id ${order}, ${time} ${order} LIMIT ${integerLiteral(rowsMax)}`;
    const read = await readBuckets(engine, source, { bucketSeconds, isGrouped, clauses });
    const buckets = mergeBuckets(read, order);
    const rows = read.reduce((sum, part) => sum + part.rows, 0);
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

/**
 * Reads the first buckets of all tokens together. Starts with a small part of each range, and makes the part 8 times as
 * long while buckets are missing: a few queries for any number of tokens. Parts end at multiples of their length, so
 * that tokens that were traded at the same time share them.
 */
async function readTogether(
  engine: Engine,
  source: Source,
  { bucketSeconds, order, limit, ranges }: BucketRange & Pick<TablePart, "ranges">,
): Promise<readonly Bucket[]> {
  const found: (readonly Bucket[])[] = [];
  let remaining = ranges;
  for (
    let seconds = Math.max(2 * limit, fewRows) * bucketSeconds;
    remaining.length > 0;
    seconds *= 8
  ) {
    const parts = remaining.map(({ from, to, ...range }) => {
      const start = (Math.ceil(to / seconds) - 2) * seconds;
      const end = (Math.floor(from / seconds) + 2) * seconds;
      return order === "asc"
        ? { ...range, edge: end, from, to: Math.min(to, end) }
        : { ...range, edge: start, from: Math.max(from, start), to };
    });
    const windows = Map.groupBy(parts, ({ edge }) => edge);
    const clauses = `WHERE ${[...windows.values()].map(toWindow).join(" OR ")}`;
    const query = {
      bucketSeconds,
      isGrouped: true,
      clauses,
      first: limitByToken({ order, limit }),
    };
    const read = Map.groupBy(await readBuckets(engine, source, query), (one) => one.tokenId);
    const isRead = ({ tokenId, from, to }: TokenRange, at: number): boolean =>
      (read.get(tokenId)?.length ?? 0) >= limit ||
      (parts[at]?.from === from && parts[at].to === to);
    found.push(...remaining.filter(isRead).map(({ tokenId }) => read.get(tokenId) ?? []));
    remaining = remaining.filter((range, at) => !isRead(range, at));
  }
  return found.flat();
}

function limitByToken({ order, limit }: Pick<BucketRange, "order" | "limit">): string {
  return `ORDER BY bucket ${order} LIMIT ${integerLiteral(limit)} BY token_id`;
}

/**
 * Returns the condition for the rows of ranges that the request limits to the same time. Where they differ, their tokens
 * have no rows. A condition for each token would be compared with every row.
 */
function toWindow(ranges: readonly TokenRange[]): string {
  const from = Math.min(...ranges.map((range) => range.from));
  const to = Math.max(...ranges.map((range) => range.to));
  const isToken = isIn(
    "token_id",
    ranges.map(({ tokenId }) => hexLiteral(tokenId)),
  );
  return `(${isToken} AND minute >= ${integerLiteral(from)} AND minute < ${integerLiteral(to)})`;
}

/** The columns of a bucket: the SQL for one row of a table, the SQL to merge several rows, and the bytes of a value. */
const columns = {
  token_id: ["token_id", "token_id", 32],
  bucket: ["bucket", "bucket", 4],
  open: ["open", "min(open)", 32],
  close: ["close", "max(close)", 32],
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
  /** The clauses that select the rows. */
  readonly clauses: string;
  /** The clauses that select the first grouped buckets. */
  readonly first?: string;
};

/** Reads buckets from the rows of ranges: one for each row or, grouped, one for each bucket start. */
async function readBuckets(
  engine: Engine,
  { table }: Source,
  { bucketSeconds, isGrouped, clauses, first = "" }: BucketQuery,
): Promise<readonly Bucket[]> {
  const start = `toUInt32(intDiv(minute, ${bucketSeconds}) * ${bucketSeconds})`;
  const names = Object.keys(columns) as Name[];
  const ofRow = (name: Name): string =>
    `${name === "bucket" ? start : columns[name][0]} AS ${name}`;
  const rows = `FROM ${table} ${clauses}`;
  const source = isGrouped
    ? `FROM (SELECT ${names.map(ofRow).join()} ${rows}) GROUP BY token_id, bucket ${first}`
    : rows;
  const selected = names.map((name) => {
    const [, ofRows, bytes] = columns[name];
    return [name, [isGrouped ? ofRows : ofRow(name), bytes]] as const;
  });
  const settings = `${inOrderSettings}, optimize_move_to_prewhere = 0`;
  const candleQuery = {
    columns: Object.fromEntries(selected) as Record<Name, readonly [string, number]>,
    clauses: `${source} SETTINGS ${settings}`,
  };
  return [...(await readRows(engine, candleQuery, bucketAt))];
}

function bucketAt(rows: RowReader, row: number, at: Offsets<Name>): Bucket {
  const buyVolumeUsd = rows.int128(row + at.buy_volume_usd);
  const sellVolumeUsd = rows.int128(row + at.sell_volume_usd);
  const candle = {
    open: rows.tick(row + at.open),
    close: rows.tick(row + at.close),
    high: rows.int128(row + at.high),
    low: rows.int128(row + at.low),
    volume: rows.int128(row + at.volume),
    buyVolumeUsd,
    sellVolumeUsd,
    priceVolume: buyVolumeUsd + sellVolumeUsd,
    trades: rows.uint64(row + at.trades),
  };
  return {
    tokenId: rows.tokenId(row + at.token_id),
    bucket: rows.uint32(row + at.bucket),
    candle,
    rows: rows.uint64(row + at.rows),
  };
}
