/** Candles on an even grid of time, so that equal times are equally wide. */
import type { Candle, Market } from "../../../client/src/api.ts";

const resolutions = ["1m", "5m", "15m", "1h", "4h", "1d"] as const;
export type Resolution = (typeof resolutions)[number];

export const ranges = ["1H", "6H", "1D", "1W", "1M", "All"] as const;
export type Range = (typeof ranges)[number];

const secondsOf: Readonly<Record<Resolution, number>> = {
  "1m": 60,
  "5m": 300,
  "15m": 900,
  "1h": 3600,
  "4h": 14_400,
  "1d": 86_400,
};

const rangeSeconds: Readonly<Record<Exclude<Range, "All">, number>> = {
  "1H": 3600,
  "6H": 6 * 3600,
  "1D": 86_400,
  "1W": 7 * 86_400,
  "1M": 30 * 86_400,
};

/** A page of candles, and so the most that are drawn. */
const bucketsMax = 1000;
const lineBuckets = 240;
const candleBuckets = 90;

/** A time of the chart, both ends in milliseconds, on whole buckets. */
export type Window = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly resolution: Resolution;
};

/** The time that a range shows, ending at `endMs`; all of it begins at `firstMs`. */
export function windowOf(options: {
  readonly range: Range;
  readonly firstMs: number;
  readonly endMs: number;
  readonly form: "line" | "candles";
  /** The length of a candle that was chosen; the best one without. */
  readonly chosen: Resolution | null;
}): Window {
  const { range, firstMs, endMs, form, chosen } = options;
  const lifeSeconds = Math.max(60, (endMs - firstMs) / 1000);
  const seconds = range === "All" ? lifeSeconds : rangeSeconds[range];
  const wanted = seconds / (form === "line" ? lineBuckets : candleBuckets);
  const fitting = resolutionsFor(seconds);
  const best = fitting.find((one) => secondsOf[one] >= wanted) ?? fitting.at(-1) ?? "1d";
  const resolution = chosen !== null && fitting.includes(chosen) ? chosen : best;
  const bucketMs = secondsOf[resolution] * 1000;
  const toMs = Math.floor(endMs / bucketMs) * bucketMs;
  const fromMs = Math.floor((endMs - seconds * 1000) / bucketMs) * bucketMs;
  return { fromMs: Math.max(fromMs, toMs - (bucketsMax - 1) * bucketMs), toMs, resolution };
}

/** The lengths of candles that a time can be shown in. */
export function resolutionsFor(seconds: number): readonly Resolution[] {
  return resolutions.filter((one, at) => {
    const buckets = seconds / secondsOf[one];
    return buckets <= bucketsMax && (buckets >= 4 || at === 0);
  });
}

/** The seconds that a range shows. */
export function secondsOfRange(range: Range, lifeMs: number): number {
  return range === "All" ? Math.max(60, lifeMs / 1000) : rangeSeconds[range];
}

/** One bucket: the price at its end, and its candle if there were trades. */
export type Bucket = {
  readonly atMs: number;
  /** `null` before the first trade. */
  readonly close: number | null;
  readonly candle: Candle | null;
  readonly volumeUsd: number;
};

/** Every bucket of a window; without trades the price is that of the one before. */
export function bucketsOf(
  { fromMs, toMs, resolution }: Window,
  candles: readonly Candle[],
): readonly Bucket[] {
  const byTime = new Map(candles.map((candle) => [candle.timestamp_ms, candle]));
  const buckets: Bucket[] = [];
  let close: number | null = null;
  for (let atMs = fromMs; atMs <= toMs; atMs += secondsOf[resolution] * 1000) {
    const candle = byTime.get(atMs) ?? null;
    if (candle !== null) close = Number(candle.close);
    const hasTrades = candle !== null && !candle.filled;
    const volumeUsd = hasTrades ? Number(candle.volume_usd) : 0;
    buckets.push({ atMs, close, candle: hasTrades ? candle : null, volumeUsd });
  }
  return buckets;
}

/** The buckets of the first outcome with one more at their end, at what a resolved market paid for it. */
export function withSettlement(
  buckets: readonly Bucket[],
  { resolution }: Market,
): readonly Bucket[] {
  const payout = resolution?.payouts[0];
  const [before, last] = buckets.slice(-2);
  if (payout === undefined || before === undefined || last === undefined) return buckets;
  const atMs = 2 * last.atMs - before.atMs;
  return [...buckets, { atMs, close: Number(payout), candle: null, volumeUsd: 0 }];
}
