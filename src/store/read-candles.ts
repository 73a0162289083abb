import type { Seq, TokenId } from "../base/ids.ts";
import { type Candle, candleOfMinute, mergeCandles, mirrorCandle } from "../market/candle.ts";
import { deriveMinuteCandles, minuteOf } from "../market/minute-candle.ts";
import type { Cell, Row } from "./engine.ts";
import type { FactStore } from "./fact-store.ts";
import { microsOf } from "./fill-columns.ts";
import { hexLiteral, integerLiteral } from "./sql-literal.ts";

/** Candles of a token's trades, told at its own prices. */
export type CandleRange = {
  readonly tokenId: TokenId;
  /** The other token of the pair, whose trades are mirrored in; `null` for own trades only. */
  readonly complement: TokenId | null;
  readonly bucketSeconds: number;
  /** Bucket starts, unix seconds: `from` inclusive, `to` exclusive. */
  readonly from: number;
  readonly to: number;
  readonly order: "asc" | "desc";
  readonly limit: number;
};

/** A candle and the start of its bucket, unix seconds. */
export type BucketCandle = { readonly bucket: number; readonly candle: Candle };

/** The first `limit` buckets that hold a priced trade, in the order asked for. */
export async function readCandles(
  store: FactStore,
  range: CandleRange,
): Promise<readonly BucketCandle[]> {
  // All three are taken before the first await, so that they are of one moment.
  const openFrom = minuteOf(store.coverage?.last.timestamp ?? 0);
  const open = store.openMinutes;
  const held = deriveMinuteCandles(store.tail.fills());
  const buckets = new Map<number, Candle>();
  const tokens = [{ tokenId: range.tokenId, tell: (candle: Candle) => candle }];
  if (range.complement !== null) tokens.push({ tokenId: range.complement, tell: mirrorCandle });
  for (const { tokenId, tell } of tokens) {
    const inMemory = [...open, ...held].filter((minute) => minute.tokenId === tokenId);
    for (const minute of inMemory) {
      const candle = candleOfMinute(minute);
      const bucket = minute.minute - (minute.minute % range.bucketSeconds);
      const isWithin = bucket >= range.from && bucket < range.to;
      if (candle !== null && isWithin) addTo(buckets, bucket, tell(candle));
    }
  }
  for (const { tokenId, tell } of tokens) {
    const stored = await readStored(store, { ...range, tokenId }, openFrom);
    for (const { bucket, candle } of stored) addTo(buckets, bucket, tell(candle));
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
    const [first] = await readCandles(store, {
      tokenId,
      complement: null,
      bucketSeconds: 60,
      from: 0,
      to: Number.MAX_SAFE_INTEGER,
      order: "asc",
      limit: 1,
    });
    if (first !== undefined) starts.push(first.bucket);
  }
  return starts.length === 0 ? null : Math.min(...starts);
}

function addTo(buckets: Map<number, Candle>, bucket: number, candle: Candle): void {
  const known = buckets.get(bucket);
  buckets.set(bucket, known === undefined ? candle : mergeCandles(known, candle));
}

/** Buckets of one token from the complete minutes in the engine. */
async function readStored(
  store: FactStore,
  { tokenId, bucketSeconds, from, to, order, limit }: CandleRange,
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
