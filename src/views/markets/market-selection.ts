/** Which markets a list has: what they are asked for by, and how well they answer. */

import { type Chunk, inChunks } from "../disk/chunked-loop.ts";
import type { Column } from "../disk/column.ts";
import type { Hits, Ranks } from "../search/market-search.ts";
import { type LabelKind, type MarketColumns, marketFlags } from "./market-columns.ts";

/** What a list can be ordered by. */
export type MarketSort =
  | "volume_24h"
  | "volume"
  | "trades_24h"
  | "created_at"
  | "end_date"
  | "last_trade_at";

/** Which markets are asked for; all that is given has to hold. Micros, unix milliseconds. */
export type MarketSelection = {
  /** What a search has found, to be narrowed in place; `null` without one. */
  readonly hits: Hits | null;
  /** Only these, which need not be listed. */
  readonly ordinals: Iterable<number> | null;
  /** Flags that have to be set or not, as `marketFlags`. */
  readonly flags: { readonly asked: number; readonly wanted: number };
  /** Labels of which each kind has to have one. */
  readonly labels: Partial<Readonly<Record<LabelKind, readonly string[]>>>;
  readonly minVolume: number;
  readonly minDayVolume: number;
  readonly createdFrom: number;
  readonly createdBefore: number;
  /** `null` where markets without an end count too. */
  readonly ends: { readonly from: number; readonly before: number } | null;
  readonly sort: MarketSort;
};

/** Which markets a list has: those with a rank. By ordinal where `ordinals` is `null`. */
export type Members = {
  readonly ordinals: Int32Array<ArrayBuffer> | null;
  readonly ranks: Ranks;
  readonly length: number;
};

/** Flags that are asked for, and what they have to be. */
type Flags = MarketSelection["flags"];

/** Numbers by ordinal, of which those are wanted from one on and below another. */
type Bound = {
  readonly values: ArrayLike<number>;
  readonly from: number;
  readonly before: number;
};

/** The markets that are asked for; without a search all with the same rank. */
export function membersOf(columns: MarketColumns, selection: MarketSelection): Members {
  const { ordinals: named, hits } = selection;
  const bounds = [...boundsOf(columns, selection), ...labelBoundsOf(columns, selection)];
  const { asked, wanted } = selection.flags;
  const listed = named === null ? marketFlags.listed : 0;
  const flags = { asked: asked | listed, wanted: wanted | listed };
  const few = named === null ? hits?.ordinals : Int32Array.from(new Set(named));
  if (few) {
    const ordinals = new Int32Array(few.length);
    const ranks = new Uint16Array(few.length);
    const length = inChunks(few.length, ({ from, to }, before) => {
      let next = before;
      for (let at = from; at < to; at += 1) {
        const ordinal = few[at] ?? 0;
        const rank = hits === null ? 1 : (hits.ranks[ordinal] ?? 0);
        const isFlagged = (columns.flags.get(ordinal) & flags.asked) === flags.wanted;
        if (rank === 0 || !isFlagged || !isWithinAll(bounds, ordinal)) continue;
        ordinals[next] = ordinal;
        ranks[next] = rank;
        next += 1;
      }
      return next - before;
    });
    return { ordinals: ordinals.slice(0, length), ranks: ranks.slice(0, length), length };
  }
  const ranks = hits?.ranks ?? new Uint16Array(columns.count).fill(1);
  let length = inChunks(ranks.length, (step) =>
    keepFlagged(ranks, { ...flags, values: columns.flags.values }, step),
  );
  for (const bound of bounds) {
    length = inChunks(ranks.length, (step) => keepWithin(ranks, bound, step));
  }
  return { ordinals: null, ranks, length };
}

function isWithinAll(bounds: readonly Bound[], ordinal: number): boolean {
  for (const { values, from, before } of bounds) {
    const value = values[ordinal] ?? 0;
    if (value < from || value >= before) return false;
  }
  return true;
}

/** Takes the rank from what has not the flags, without a branch, which no processor could guess; how many keep theirs. */
function keepFlagged(
  ranks: Ranks,
  { values, asked, wanted }: Flags & { readonly values: Uint8Array },
  { from, to }: Chunk,
): number {
  let length = 0;
  for (let at = from; at < to; at += 1) {
    const isWanted = Number(((values[at] ?? 0) & asked) === wanted);
    const rank = Math.imul(ranks[at] ?? 0, isWanted);
    ranks[at] = rank;
    // 1 for each that is above 0.
    length += -rank >>> 31;
  }
  return length;
}

function keepWithin(ranks: Ranks, { values, from, before }: Bound, step: Chunk): number {
  let length = 0;
  for (let at = step.from; at < step.to; at += 1) {
    const value = values[at] ?? 0;
    const isWithin = Number(value >= from) & Number(value < before);
    const rank = Math.imul(ranks[at] ?? 0, isWithin);
    ranks[at] = rank;
    length += -rank >>> 31;
  }
  return length;
}

function boundsOf(
  columns: MarketColumns,
  { minVolume, minDayVolume, createdFrom, createdBefore, ends }: MarketSelection,
): Bound[] {
  const bounds: Bound[] = [];
  const add = (column: Column, from: number, before: number) =>
    bounds.push({ values: column.values, from, before });
  if (minVolume > 0) add(columns.volumeUsd, minVolume, Infinity);
  if (minDayVolume > 0) add(columns.dayVolumeUsd, minDayVolume, Infinity);
  if (createdFrom > 0 || createdBefore < Infinity) {
    add(columns.createdAt, createdFrom / 1000, createdBefore / 1000);
  }
  // 0 is no end, and not one of 1970.
  if (ends !== null) add(columns.endMs, Math.max(ends.from, 1), ends.before);
  return bounds;
}

/** Marks of the markets that have one of the labels, for each kind that is asked for. */
function labelBoundsOf(columns: MarketColumns, { labels }: MarketSelection): Bound[] {
  return Object.entries(labels).map(([kind, values]) => {
    return { values: columns.marksOf(kind as LabelKind, values), from: 1, before: Infinity };
  });
}
