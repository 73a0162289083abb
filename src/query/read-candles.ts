import type { TokenId } from "../base/ids.ts";
import { type Candle, candleOfMinute, mergeCandles } from "../market/candle.ts";
import { invertCandle } from "../market/invert.ts";
import { type MinuteCandle, minuteOf } from "../market/minute-candle.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import type { BucketCandle, BucketRange } from "../views/recent/recent-candles.ts";
import { type CandleTotals, readStoredCandles } from "./read-stored-candles.ts";

/** A request for candles of a token, at its own prices. */
export type CandleRange = BucketRange & {
  /** The other token of the pair, whose inverted trades are included; `null` for the token's own trades only. */
  readonly complement: TokenId | null;
  /** Returns the totals of a token, which bound the minutes that have candles. */
  readonly totalsOf?: (tokenId: TokenId) => CandleTotals;
};

/** Reads the first `limit` buckets that hold a priced trade, in the requested order. */
export async function readCandles(
  store: IndexedFacts,
  range: CandleRange,
): Promise<readonly BucketCandle[]> {
  // All data in memory is taken before the first await, so that it belongs to one moment.
  const moment = momentOf(store);
  const unfinalized = store.headBuffer.minutes();
  const tokens = [{ tokenId: range.tokenId, report: (candle: Candle) => candle }];
  if (range.complement !== null) tokens.push({ tokenId: range.complement, report: invertCandle });
  const parts = tokens.map(({ tokenId, report }) => {
    const own = { ...range, tokenId };
    const kept = store.recentCandles.get(own);
    return { tokenId, report, kept, unfinalized: bucketsOf(unfinalized, own) };
  });
  const missing = parts.filter(({ kept }) => kept === null).map(({ tokenId }) => tokenId);
  store.reads.add("candles", missing.length === 0 ? "recent" : "engine");
  const read = await readFinal(store, range, { ...moment, missing });
  const buckets = new Map<number, Candle>();
  for (const { tokenId, report, kept, unfinalized: newest } of parts) {
    for (const { bucket, candle } of [...(kept ?? read.get(tokenId) ?? []), ...newest]) {
      addTo(buckets, bucket, report(candle));
    }
  }
  const sign = range.order === "asc" ? 1 : -1;
  return sorted(buckets, sign).slice(0, range.limit);
}

/** The open minutes at one moment, and the time (unix seconds) from which the engine's minutes are incomplete. */
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

/** The `to` of ranges without an end. */
const endless = Number.MAX_SAFE_INTEGER;

/** Reads the buckets of each token's final trades, oldest first, from the engine and the open minutes. */
async function readFinal(
  store: IndexedFacts,
  { totalsOf, ...range }: CandleRange,
  { missing, openFrom, open, appends }: Moment & { readonly missing: readonly TokenId[] },
): Promise<ReadonlyMap<TokenId, readonly BucketCandle[]>> {
  const tokens = missing.map((tokenId) => ({ tokenId, totals: totalsOf?.(tokenId) }));
  const stored = await readStoredCandles(store.engine, range, { tokens, openFrom });
  const isNewest = range.order === "desc" && range.from === 0 && range.to === endless;
  const found = missing.map((tokenId) => {
    const own = { ...range, tokenId };
    const buckets = new Map<number, Candle>();
    for (const { bucket, candle } of [...bucketsOf(open, own), ...(stored.get(tokenId) ?? [])]) {
      addTo(buckets, bucket, candle);
    }
    const rising = sorted(buckets, 1);
    // A concurrent append may have added minutes that these rows lack.
    if (isNewest && store.appends === appends) store.recentCandles.put(own, rising);
    return [tokenId, rising] as const;
  });
  return new Map(found);
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
