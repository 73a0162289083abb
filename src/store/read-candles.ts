import type { Seq, TokenId } from "../base/ids.ts";
import { storeLimits } from "../base/limits.ts";
import { type Candle, candleOfMinute, mergeCandles, mirrorCandle } from "../market/candle.ts";
import { type MinuteCandle, minuteOf } from "../market/minute-candle.ts";
import type { Cell, Row } from "./engine.ts";
import type { FactStore } from "./fact-store.ts";
import { microsOf } from "./fill-columns.ts";
import type { BucketCandle, BucketRange } from "./newest-candles.ts";
import { hexLiteral, integerLiteral } from "./sql-literal.ts";

/** Candles of a token's trades, told at its own prices. */
export type CandleRange = BucketRange & {
  /** The other token of the pair, whose trades are mirrored in; `null` for own trades only. */
  readonly complement: TokenId | null;
};

/** The first `limit` buckets that hold a priced trade, in the order asked for. */
export async function readCandles(
  store: FactStore,
  range: CandleRange,
): Promise<readonly BucketCandle[]> {
  // All of it is taken before the first await, so that it is of one moment.
  const moment = {
    openFrom: minuteOf(store.coverage?.last.timestamp ?? 0),
    open: store.openMinutes,
    appends: store.appends,
  };
  const held = store.tail.minutes();
  const tokens = [{ tokenId: range.tokenId, tell: (candle: Candle) => candle }];
  if (range.complement !== null) tokens.push({ tokenId: range.complement, tell: mirrorCandle });
  // Asked for all of them before any is waited for.
  const parts = tokens.map(({ tokenId, tell }) => ({
    tell,
    held: bucketsOf(held, { ...range, tokenId }),
    final: readFinal(store, { ...range, tokenId }, moment),
  }));
  const finals = await Promise.all(parts.map(async (part) => part.final));
  const buckets = new Map<number, Candle>();
  for (const [index, part] of parts.entries()) {
    for (const { bucket, candle } of [...(finals[index] ?? []), ...part.held])
      addTo(buckets, bucket, part.tell(candle));
  }
  const sign = range.order === "asc" ? 1 : -1;
  return [...buckets]
    .map(([bucket, candle]) => ({ bucket, candle }))
    .toSorted((a, b) => sign * (a.bucket - b.bucket))
    .slice(0, range.limit);
}

/** The bucket of the first priced trade of any of the tokens, unix seconds; `null` without one. */
export async function readFirstMinute(
  store: FactStore,
  tokenIds: readonly TokenId[],
): Promise<number | null> {
  const starts: number[] = [];
  for (const tokenId of tokenIds) {
    const first = store.firstMinutes.get(tokenId) ?? (await readFirst(store, tokenId));
    if (first !== null) starts.push(first);
  }
  return starts.length === 0 ? null : Math.min(...starts);
}

async function readFirst(store: FactStore, tokenId: TokenId): Promise<number | null> {
  const { coverage, firstMinutes } = store;
  const [first] = await readCandles(store, {
    tokenId,
    complement: null,
    bucketSeconds: 60,
    from: 0,
    to: endless,
    order: "asc",
    limit: 1,
  });
  if (first === undefined) return null;
  // A minute that has ended among the final ones stays the first for good.
  if (first.bucket < minuteOf(coverage?.last.timestamp ?? 0)) {
    if (firstMinutes.size >= storeLimits.firstMinutesMax) firstMinutes.clear();
    firstMinutes.set(tokenId, first.bucket);
  }
  return first.bucket;
}

/** What minutes in memory there are at a moment, and since when those of the engine are not whole. */
type Moment = {
  readonly openFrom: number;
  readonly open: readonly MinuteCandle[];
  readonly appends: number;
};

/** The `to` of ranges that have no end. */
const endless = Number.MAX_SAFE_INTEGER;

/** Buckets of one token's final trades: those kept, or those of the engine and the open minutes. */
async function readFinal(
  store: FactStore,
  range: BucketRange,
  moment: Moment,
): Promise<readonly BucketCandle[]> {
  const kept = store.newestCandles.get(range);
  if (kept !== null) return kept;
  const buckets = new Map<number, Candle>();
  for (const { bucket, candle } of bucketsOf(moment.open, range)) addTo(buckets, bucket, candle);
  for (const { bucket, candle } of await readStored(store, range, moment.openFrom))
    addTo(buckets, bucket, candle);
  const found = [...buckets]
    .map(([bucket, candle]) => ({ bucket, candle }))
    .toSorted((a, b) => a.bucket - b.bucket);
  const isNewest = range.order === "desc" && range.from === 0 && range.to === endless;
  // An append in between has told of minutes that these do not have.
  if (isNewest && store.appends === moment.appends) store.newestCandles.put(range, found);
  return found;
}

function bucketsOf(minutes: readonly MinuteCandle[], range: BucketRange): BucketCandle[] {
  return minutes.flatMap((minute) => {
    if (minute.tokenId !== range.tokenId) return [];
    const candle = candleOfMinute(minute);
    const bucket = minute.minute - (minute.minute % range.bucketSeconds);
    const isWithin = bucket >= range.from && bucket < range.to;
    return candle !== null && isWithin ? [{ bucket, candle }] : [];
  });
}

function addTo(buckets: Map<number, Candle>, bucket: number, candle: Candle): void {
  const known = buckets.get(bucket);
  buckets.set(bucket, known === undefined ? candle : mergeCandles(known, candle));
}

/** Buckets of one token from the complete minutes in the engine. */
async function readStored(
  store: FactStore,
  { tokenId, bucketSeconds, from, to, order, limit }: BucketRange,
  openFrom: number,
): Promise<BucketCandle[]> {
  const seconds = integerLiteral(bucketSeconds);
  // A bucket is asked for by its start: all of its complete minutes or none.
  const minuteAt = (time: number): string =>
    integerLiteral(Math.min(openFrom, Math.ceil(time / bucketSeconds) * bucketSeconds));
  const rows = await store.engine.query(
    `SELECT intDiv(minute, ${seconds}) * ${seconds} AS bucket, min(open), max(close), max(high),
       min(low), sum(volume), sum(buy_volume_usd), sum(sell_volume_usd), sum(trades) AS priced
     FROM oddwire.minute_candles
     WHERE token_id = ${hexLiteral(tokenId)}
       AND minute >= ${minuteAt(from)} AND minute < ${minuteAt(to)} AND trades > 0
     GROUP BY bucket ORDER BY bucket ${order === "asc" ? "ASC" : "DESC"}
     LIMIT ${integerLiteral(limit)}`,
  );
  return rows.map(parseBucket);
}

function parseBucket(row: Row): BucketCandle {
  const [bucket, open, close, high, low, volume, buy, sell, trades] = row;
  const buyVolumeUsd = microsOf(buy);
  const sellVolumeUsd = microsOf(sell);
  const candle = {
    open: tickOf(open),
    close: tickOf(close),
    high: microsOf(high),
    low: microsOf(low),
    volume: microsOf(volume),
    buyVolumeUsd,
    sellVolumeUsd,
    priceVolume: buyVolumeUsd + sellVolumeUsd,
    trades: Number(trades),
  };
  return { bucket: Number(bucket), candle };
}

function tickOf(cell: Cell | undefined): Candle["open"] {
  const [seq, price] = Array.isArray(cell) ? (cell as Row) : [];
  return { seq: Number(seq) as Seq, price: microsOf(price) };
}
