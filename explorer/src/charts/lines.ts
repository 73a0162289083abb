/** Lines through the closes of buckets. A price holds until the next trade. */
import type { Market } from "../../../clients/typescript/src/api.ts";
import { type Bucket, endWithin } from "./buckets.ts";

/** The volume of a bucket. */
export type VolumeBar = Pick<Bucket, "fromMs" | "toMs" | "volumeUsd">;

/** When a bucket is drawn: a candle at its start, but on a line its close, the price at its end, and its volume. */
export const timeIn = {
  line: ({ toMs }: VolumeBar): number => toMs,
  candles: ({ fromMs }: VolumeBar): number => fromMs,
} as const;

/** Returns the buckets of a line, which begins with an opening price at the start of its first bucket. */
export function toLine(buckets: readonly Bucket[]): readonly Bucket[] {
  const [first] = buckets;
  if (first === undefined) return [];
  const start = { fromMs: first.fromMs, toMs: first.fromMs, candle: null, volumeUsd: 0 };
  return [
    { ...start, close: getOpen(first) },
    ...buckets.map((one, at) => ({ ...one, close: one.close ?? getOpen(buckets[at + 1]) })),
  ];
}

function getOpen(bucket: Bucket | undefined): number | null {
  const open = bucket?.candle?.open;
  return open === undefined ? (bucket?.close ?? null) : Number(open);
}

/** Returns the line of a market's first outcome with its payout, if it is resolved, from that time on. */
export function withSettlement(
  line: readonly Bucket[],
  { resolution, resolved_at_ms: atMs }: Pick<Market, "resolution" | "resolved_at_ms">,
): readonly Bucket[] {
  const payout = resolution?.payouts[0];
  const [first] = line;
  if (payout === undefined || atMs === null || first === undefined) return line;
  const close = Number(payout);
  // Trades right before the settlement are drawn one second before it.
  const beforeMs = atMs - 1000;
  const before = line.filter(({ fromMs }) => fromMs < beforeMs);
  const after = line.slice(before.length).map((one) => ({ ...one, close }));
  if (before.length === 0) return after;
  const settled = { fromMs: atMs, toMs: atMs, close, candle: null, volumeUsd: 0 };
  const earlier = before.flatMap((one) => {
    if (one.toMs < atMs) return [one];
    return one.candle === null ? [] : [{ ...one, toMs: beforeMs }];
  });
  return [...earlier, settled, ...after];
}

/**
 * Returns the buckets as they were at a moment of a replay. The bucket that it has reached ends there, with the replay's
 * price. Its volume and candle have trades that are still to come, so they are left out until the replay is over.
 */
export function asOf(
  buckets: readonly Bucket[],
  { atMs, toMs: endMs, price }: { atMs: number; toMs: number; price: number | null },
): readonly Bucket[] {
  const reached = buckets.findIndex(({ toMs }) => toMs > atMs);
  if (reached === -1) return buckets;
  const unknown = { close: null, candle: null, volumeUsd: 0 };
  const close = price ?? buckets[reached - 1]?.close ?? null;
  return buckets.map((one, at) => {
    if (at < reached) return one;
    if (at > reached) return { ...one, ...unknown };
    const known = atMs < endMs ? unknown : one;
    return { ...one, ...known, toMs: endWithin(one.fromMs, atMs), close };
  });
}

/** Sums the volumes of lines that have the same buckets. */
export function sumVolumes(lines: readonly (readonly VolumeBar[])[]): readonly VolumeBar[] {
  return (lines[0] ?? []).map(({ fromMs, toMs }, at) => {
    const volumeUsd = lines.reduce((sum, line) => sum + (line[at]?.volumeUsd ?? 0), 0);
    return { fromMs, toMs, volumeUsd };
  });
}
