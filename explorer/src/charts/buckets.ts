/** Candles on a regular time grid, so that equal durations have equal widths. */
import type { Candle } from "../../../clients/typescript/src/api.ts";

const resolutions = ["1m", "5m", "15m", "1h", "4h", "1d"] as const;
export type Resolution = (typeof resolutions)[number];

export const ranges = ["1H", "6H", "1D", "1W", "1M", "All"] as const;
export type Range = (typeof ranges)[number];

const toSeconds: Readonly<Record<Resolution, number>> = {
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

const dayMs = 86_400_000;

/** The size of a page of candles, and so the most candles that are drawn. */
const bucketsMax = 1000;
/** About how many buckets a form has room for. */
const requestedBuckets = { line: 240, candles: 90, sparkline: 96 } as const;

/** The time range of a chart, in Unix milliseconds. Both ends are on whole buckets. */
export type Window = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly resolution: Resolution;
};

/** Returns the query of the candles of a window, also while the window is not known yet. `endMs` is a market's end. */
export function candlesQuery(window: Window | undefined, endMs: number | null) {
  return {
    resolution: window?.resolution,
    start: window?.fromMs,
    ...(endMs === null ? {} : { end: endMs }),
    fill: "previous",
    include_mirror: true,
    limit: bucketsMax,
  } as const;
}

/** Returns the window of a range that ends at `endMs`, and begins at `firstMs` or later. */
export function getWindow(options: {
  readonly range: Range;
  readonly firstMs: number;
  readonly endMs: number;
  readonly form: keyof typeof requestedBuckets;
  /** The chosen length of a candle; `null` for the best one. */
  readonly chosen: Resolution | null;
}): Window {
  const { range, firstMs, endMs, form, chosen } = options;
  const seconds = secondsOfRange(range, endMs - firstMs);
  const requested = seconds / requestedBuckets[form];
  const fitting = resolutionsFor(seconds);
  const best = fitting.find((one) => toSeconds[one] >= requested) ?? fitting.at(-1) ?? "1d";
  const resolution = chosen !== null && fitting.includes(chosen) ? chosen : best;
  const bucketMs = toSeconds[resolution] * 1000;
  // A bucket that begins at the end has no time.
  const toMs = (Math.ceil(endMs / bucketMs) - 1) * bucketMs;
  const fromMs = Math.floor((endMs - seconds * 1000) / bucketMs) * bucketMs;
  return { fromMs: Math.max(fromMs, toMs - (bucketsMax - 1) * bucketMs), toMs, resolution };
}

/** Returns the lengths of candles in which a time range can be shown. */
export function resolutionsFor(seconds: number): readonly Resolution[] {
  return resolutions.filter((one, at) => {
    const buckets = seconds / toSeconds[one];
    return buckets <= bucketsMax && (buckets >= 4 || at === 0);
  });
}

/** Returns the length of a range in seconds. No range is longer than the market's life. */
export function secondsOfRange(range: Range, lifeMs: number): number {
  const lifeSeconds = Math.max(60, lifeMs / 1000);
  return range === "All" ? lifeSeconds : Math.min(lifeSeconds, rangeSeconds[range]);
}

/** Returns the range shown first: one day, or all while a day would show little. */
export function usualRange(of: {
  readonly firstMs: number;
  readonly endMs: number | null;
  readonly lastTradeMs: number | null;
}): Range {
  const dayAgoMs = Date.now() - dayMs;
  const isBusy = of.endMs === null && of.firstMs < dayAgoMs && (of.lastTradeMs ?? 0) > dayAgoMs;
  return isBusy ? "1D" : "All";
}

/** One bucket: the price at its end, and its candle if there were trades. */
export type Bucket = {
  readonly fromMs: number;
  /** The end of the bucket; of the open one, the newest time. */
  readonly toMs: number;
  /** `null` before the first trade. */
  readonly close: number | null;
  readonly candle: Candle | null;
  readonly volumeUsd: number;
};

/**
 * Returns every bucket of a window, the last one up to `untilMs`. A bucket without trades has the price of the bucket
 * before.
 */
export function toBuckets(
  { fromMs: startMs, toMs: endMs, resolution }: Window,
  candles: readonly Candle[],
  untilMs: number,
): readonly Bucket[] {
  const byTime = new Map(candles.map((candle) => [candle.timestamp_ms, candle]));
  const bucketMs = toSeconds[resolution] * 1000;
  const buckets: Bucket[] = [];
  let close: number | null = null;
  for (let fromMs = startMs; fromMs <= endMs; fromMs += bucketMs) {
    const candle = byTime.get(fromMs) ?? null;
    if (candle !== null) close = Number(candle.close);
    const hasTrades = candle !== null && !candle.filled;
    const volumeUsd = hasTrades ? Number(candle.volume_usd) : 0;
    const toMs = endWithin(fromMs, Math.min(fromMs + bucketMs, untilMs));
    buckets.push({ fromMs, toMs, close, candle: hasTrades ? candle : null, volumeUsd });
  }
  return buckets;
}

/** Returns an end of a bucket after its start: the chart knows whole seconds, and clocks differ. */
export function endWithin(fromMs: number, toMs: number): number {
  return Math.max(fromMs + 1000, toMs);
}
