/** Selects the markets of a list by the filters and the search of a request. */
import type { ConditionId } from "../../base/ids.ts";
import { type Chunk, inChunks } from "../disk/chunked-loop.ts";
import type { Column } from "../disk/column.ts";
import { getRanked, type Hits, type Ranks } from "../search/market-search.ts";
import { type LabelKind, type MarketColumns, marketFlags } from "./market-columns.ts";

/** A list with fewer than one market in this many has its own ranks and keys. Others use those of all markets. */
const densePart = 8;

/** The values that a list can be ordered by, each with the column of its numbers. */
export const sortColumns = {
  volume_24h: "dayVolumeUsd",
  volume: "volumeUsd",
  trades_24h: "dayTrades",
  change_24h: "dayChange",
  liquidity: "liquidityUsd",
  created_at: "createdAt",
  end_date: "endMs",
  last_trade_at: "lastTradeAt",
  open_interest: "openInterest",
} as const satisfies Readonly<Record<string, keyof MarketColumns>>;

type Sort = keyof typeof sortColumns;

/** The columns that are 0 for a market without the value, by the sort orders whose value can be null. */
export const presenceColumns: Partial<Readonly<Record<Sort, (typeof sortColumns)[Sort]>>> = {
  // A market has a price once it was traded.
  change_24h: "lastTradeAt",
  liquidity: "liquidityUsd",
  end_date: "endMs",
  last_trade_at: "lastTradeAt",
  open_interest: "openInterest",
};

/** Which markets are requested. All conditions have to hold. Amounts are in micros, times in unix milliseconds. */
export type MarketSelection = {
  /** The result of a search, which the selection narrows in place; `null` without a search. */
  readonly hits: Hits | null;
  /** Only these markets, listed or not; `null` for all listed markets. */
  readonly ordinals: Iterable<number> | null;
  /** Bits of `marketFlags`: `mask` are compared, and `expected` of them have to be set. */
  readonly flags: { readonly mask: number; readonly expected: number };
  /** For each kind, the labels of which a market must have at least one. */
  readonly labels: Partial<Readonly<Record<LabelKind, readonly string[]>>>;
  readonly minVolume: number;
  readonly minDayVolume: number;
  readonly createdFrom: number;
  readonly createdBefore: number;
  /** `null` to also select markets without an end. */
  readonly ends: { readonly from: number; readonly before: number } | null;
  readonly sort: Sort;
};

/** The markets of a list: those with a rank above 0. Without a search, all have the same rank. */
export type Members = {
  /** The market of each rank; `null` if ranks are by ordinal. */
  readonly ordinals: Int32Array<ArrayBuffer> | null;
  readonly ranks: Ranks;
  readonly length: number;
};

/** The flags to compare, and the values they must have. */
type Flags = MarketSelection["flags"];

/** Numbers by ordinal. Those from `from` inclusive to `before` exclusive match. */
type Bound = {
  readonly values: ArrayLike<number>;
  readonly from: number;
  readonly before: number;
};

/** Selects the requested markets. Uses up the hits of a search. */
export function selectMembers(columns: MarketColumns, selection: MarketSelection): Members {
  const { ordinals: named, hits } = selection;
  const bounds = [...toBounds(columns, selection), ...getLabelBounds(columns, selection)];
  const { mask, expected } = selection.flags;
  const listed = named === null ? marketFlags.listed : 0;
  const flags = { mask: mask | listed, expected: expected | listed };
  const few = named === null ? hits?.ordinals : Int32Array.from(new Set(named));
  if (few) {
    const ordinals = new Int32Array(few.length);
    const ranks = new Uint16Array(few.length);
    const length = inChunks(few.length, ({ from, to }, before) => {
      let next = before;
      for (let at = from; at < to; at += 1) {
        const ordinal = few[at] ?? 0;
        const rank = hits === null ? 1 : (hits.ranks[ordinal] ?? 0);
        const isFlagged = (columns.flags.get(ordinal) & flags.mask) === flags.expected;
        if (rank === 0 || !isFlagged || !isWithinAll(bounds, ordinal)) continue;
        ordinals[next] = ordinal;
        ranks[next] = rank;
        next += 1;
      }
      return next - before;
    });
    if (hits !== null) free(hits.ranks);
    return { ordinals: ordinals.slice(0, length), ranks: ranks.slice(0, length), length };
  }
  const ranks = hits?.ranks ?? new Uint16Array(columns.count).fill(1);
  let length = inChunks(ranks.length, (step) =>
    keepFlagged(ranks, { ...flags, values: columns.flags.values }, step),
  );
  for (const bound of bounds) {
    length = inChunks(ranks.length, (step) => keepWithin(ranks, bound, step));
  }
  if (length * densePart >= ranks.length) return { ordinals: null, ranks, length };
  const ordinals = getRanked(ranks, length);
  const orderedRanks = pick(ranks, ordinals, new Uint16Array(length));
  free(ranks);
  return { ordinals, ranks: orderedRanks, length };
}

/**
 * Frees numbers that are no longer read. A search takes some MB. If they were left to the garbage collector, it would
 * run several times a second, each time for longer than a search.
 */
export function free({ buffer }: { readonly buffer: ArrayBuffer }): void {
  buffer.transfer(0);
}

/** Copies the numbers at some indexes. `from` of typed arrays with a function takes ten times as long. */
export function pick<Numbers extends Uint16Array | Float64Array>(
  all: Numbers,
  indexes: Int32Array,
  picked: Numbers,
): Numbers {
  inChunks(indexes.length, ({ from, to }) => {
    for (let at = from; at < to; at += 1) picked[at] = all[indexes[at] ?? 0] ?? 0;
    return 0;
  });
  return picked;
}

function isWithinAll(bounds: readonly Bound[], ordinal: number): boolean {
  for (const { values, from, before } of bounds) {
    const value = values[ordinal] ?? 0;
    if (value < from || value >= before) return false;
  }
  return true;
}

/**
 * Sets the rank of markets without the expected flags to 0, and returns how many keep theirs. Branch-free: the branch
 * would be unpredictable.
 */
function keepFlagged(
  ranks: Ranks,
  { values, mask, expected }: Flags & { readonly values: Uint8Array },
  { from, to }: Chunk,
): number {
  let length = 0;
  for (let at = from; at < to; at += 1) {
    const isRequested = Number(((values[at] ?? 0) & mask) === expected);
    const rank = Math.imul(ranks[at] ?? 0, isRequested);
    ranks[at] = rank;
    // `-rank >>> 31` is 1 for a rank above 0.
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

function toBounds(
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
  // 0 stands for no end, not for an end in 1970.
  if (ends !== null) add(columns.endMs, Math.max(ends.from, 1), ends.before);
  return bounds;
}

/** Returns the markets that have one of the labels of each kind, and that were traded at a time or later, in unix seconds. */
export function tradedMarkets(
  columns: MarketColumns,
  labels: MarketSelection["labels"],
  tradedFrom: number,
): readonly ConditionId[] {
  const traded = { values: columns.lastTradeAt.values, from: tradedFrom, before: Infinity };
  const bounds = [...getLabelBounds(columns, { labels }), traded];
  const found: ConditionId[] = [];
  inChunks(columns.count, ({ from, to }) => {
    for (let at = from; at < to; at += 1)
      if (isWithinAll(bounds, at)) found.push(columns.conditionIdAt(at));
    return 0;
  });
  return found;
}

/** For each requested kind of label, returns marks of the markets that have one of the labels. */
function getLabelBounds(
  columns: MarketColumns,
  { labels }: Pick<MarketSelection, "labels">,
): Bound[] {
  return Object.entries(labels).map(([kind, values]) => {
    return { values: columns.getMarks(kind as LabelKind, values), from: 1, before: Infinity };
  });
}
