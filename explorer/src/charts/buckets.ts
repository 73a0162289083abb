/** Candles on a regular time grid, so that equal durations have equal widths. */
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

/** The size of a page of candles, and so the most candles that are drawn. */
const bucketsMax = 1000;
const lineBuckets = 240;
const candleBuckets = 90;

/** The time range of a chart, in Unix milliseconds. Both ends are on whole buckets. */
export type Window = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly resolution: Resolution;
};

/** Returns the query of the candles of a window, also while the window is not known yet. */
export function candlesQuery(window: Window | undefined) {
  return {
    resolution: window?.resolution,
    start: window?.fromMs,
    fill: "previous",
    limit: bucketsMax,
  } as const;
}

/** Returns the window of a range that ends at `endMs`. The range `All` begins at `firstMs`. */
export function windowOf(options: {
  readonly range: Range;
  readonly firstMs: number;
  readonly endMs: number;
  readonly form: "line" | "candles";
  /** The chosen length of a candle; `null` for the best one. */
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

/** Returns the lengths of candles in which a time range can be shown. */
export function resolutionsFor(seconds: number): readonly Resolution[] {
  return resolutions.filter((one, at) => {
    const buckets = seconds / secondsOf[one];
    return buckets <= bucketsMax && (buckets >= 4 || at === 0);
  });
}

/** Returns the length of a range in seconds. */
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

/** The volume of one bucket. */
export type VolumeBar = Pick<Bucket, "atMs" | "volumeUsd">;

/** Sums the volumes of several lines on the times of the first one. Buckets of different lines may differ in length. */
export function sumVolumes(lines: readonly (readonly VolumeBar[])[]): readonly VolumeBar[] {
  const times = lines[0] ?? [];
  const [first, second] = times;
  if (first === undefined || second === undefined) return times;
  const sums = times.map(() => 0);
  for (const { atMs, volumeUsd } of lines.flat()) {
    const at = Math.floor((atMs - first.atMs) / (second.atMs - first.atMs));
    sums[at] = (sums[at] ?? 0) + volumeUsd;
  }
  return times.map(({ atMs }, at) => ({ atMs, volumeUsd: sums[at] ?? 0 }));
}

/** Returns every bucket of a window. A bucket without trades has the price of the bucket before. */
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

/** Returns the buckets of the first outcome. For a resolved market one more bucket shows its payout at the end. */
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
