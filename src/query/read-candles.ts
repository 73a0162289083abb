import type { TokenId } from "../base/ids.ts";
import { settleAll } from "../base/time/settle-all.ts";
import { type Candle, candleOfMinute, mergeCandles } from "../market/candle.ts";
import { invertCandle } from "../market/invert.ts";
import type { TokenTotals } from "../market/market.ts";
import { type MinuteCandle, minuteOf } from "../market/minute-candle.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import type { BucketCandle, BucketRange } from "../views/recent/recent-candles.ts";
import { readStoredCandles } from "./read-stored-candles.ts";

/** Candles of a token's trades, at its own prices. */
export type CandleRange = BucketRange & {
  /** The other token of the pair, whose trades are inverted in; `null` for own trades only. */
  readonly complement: TokenId | null;
  /** With the time of a token's newest trade, or a later time, which spares reading what is behind it. */
  readonly totalsOf?: (tokenId: TokenId) => Pick<TokenTotals, "lastTimestamp">;
};

/** The first `limit` buckets that hold a priced trade, in the order asked for. */
export async function readCandles(
  store: IndexedFacts,
  range: CandleRange,
): Promise<readonly BucketCandle[]> {
  // All of it is taken before the first await, so that it is of one moment.
  const moment = momentOf(store);
  const unfinalized = store.headBuffer.minutes();
  const tokens = [{ tokenId: range.tokenId, report: (candle: Candle) => candle }];
  if (range.complement !== null) tokens.push({ tokenId: range.complement, report: invertCandle });
  const parts = tokens.map(({ tokenId, report }) => {
    const own = { ...range, tokenId };
    const kept = store.recentCandles.get(own);
    const newest = range.totalsOf?.(tokenId).lastTimestamp ?? endless;
    return { tokenId, report, kept, newest, unfinalized: bucketsOf(unfinalized, own) };
  });
  const isKept = parts.every(({ kept }) => kept !== null);
  store.reads.add("candles", isKept ? "recent" : "engine");
  const found = await settleAll(
    parts.map(async ({ tokenId, kept, newest }) => {
      return kept ?? readFinal(store, { ...range, tokenId }, { ...moment, newest });
    }),
  );
  const buckets = new Map<number, Candle>();
  for (const [index, part] of parts.entries()) {
    for (const { bucket, candle } of [...(found[index] ?? []), ...part.unfinalized]) {
      addTo(buckets, bucket, part.report(candle));
    }
  }
  const sign = range.order === "asc" ? 1 : -1;
  return sorted(buckets, sign).slice(0, range.limit);
}

/** What minutes in memory there are at a moment, and since when those of the engine are not whole. */
type Moment = {
  readonly openFrom: number;
  readonly open: readonly MinuteCandle[];
  readonly appends: number;
};

function momentOf(store: IndexedFacts): Moment {
  return {
    openFrom: minuteOf(store.coverage?.last.timestamp ?? 0),
    open: store.openMinutes.candles,
    appends: store.appends,
  };
}

/** The `to` of ranges that have no end. */
const endless = Number.MAX_SAFE_INTEGER;

/** Buckets of the final trades of a token, rising: those of the engine and those of the open minutes. */
async function readFinal(
  store: IndexedFacts,
  range: BucketRange,
  moment: Moment & { readonly newest: number },
): Promise<readonly BucketCandle[]> {
  const stored = await readStoredCandles(store.engine, range, moment);
  const buckets = new Map<number, Candle>();
  for (const { bucket, candle } of [...bucketsOf(moment.open, range), ...stored]) {
    addTo(buckets, bucket, candle);
  }
  const rising = sorted(buckets, 1);
  const isNewest = range.order === "desc" && range.from === 0 && range.to === endless;
  // A concurrent append may have added minutes that these rows lack.
  if (isNewest && store.appends === moment.appends) store.recentCandles.put(range, rising);
  return rising;
}

function sorted(buckets: ReadonlyMap<number, Candle>, sign: 1 | -1): BucketCandle[] {
  return [...buckets]
    .map(([bucket, candle]) => ({ bucket, candle }))
    .toSorted((a, b) => sign * (a.bucket - b.bucket));
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
