/**
 * Lists of markets: which of all markets a list has, and the pages of it. What a list is ordered by
 * changes all the time, so a list is what its order was made of when it was asked for; a page is
 * then chosen by walking over it, which at 1.5 million markets costs less than sorting them once.
 */
import type { ConditionId } from "../base/ids.ts";
import type { Column } from "./column.ts";
import { type LabelKind, labelOf, type MarketColumns, marketFlags } from "./market-columns.ts";
import type { Hits } from "./market-search.ts";

type MarketSort =
  | "volume_24h"
  | "volume"
  | "trades_24h"
  | "created_at"
  | "end_date"
  | "last_trade_at";

/** Which markets are asked for; all that is given has to hold. Micros, unix milliseconds. */
export type MarketSelection = {
  /** Words that all have to be found; `null` without a search. */
  readonly words: readonly string[] | null;
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

/** Where a market stands in a list: keys that say it fully, whatever else the list holds. */
export type MarketPlace = {
  /** How well it answers the search; 1 without one. Higher is better and comes first. */
  readonly rank: number;
  /** What the list is ordered by; 0 where a market has no value. */
  readonly key: number;
  readonly conditionId: ConditionId;
};

const idBytes = 32;
/** Lists of a smaller part of all markets than this hold what they are of, the others all. */
const densePart = 8;

/** Which markets a list has: those with a rank. By ordinal where `ordinals` is `null`. */
type Members = {
  readonly ordinals: Int32Array | null;
  readonly ranks: Uint16Array;
  readonly length: number;
};

/** Numbers by ordinal, of which those are wanted from one on and below another. */
type Bound = {
  readonly values: ArrayLike<number>;
  readonly from: number;
  readonly before: number;
};

/** What an item has to have to be among the best, by its numbers alone; keys with their sign. */
type Bar = {
  readonly sign: number;
  /** It must not stand before this. */
  readonly edge: { readonly rank: number; readonly key: number };
  /** What the last of the best has, and how its id starts. */
  rank: number;
  key: number;
  idStart: number;
};

/** The markets of a list and what orders them, as they were when it was asked for. */
export class MarketList {
  readonly #columns: MarketColumns;
  readonly #ordinals: Int32Array | null;
  /** Above 0 for each market of the list; all the same without a search. */
  readonly #ranks: Uint16Array;
  readonly #keys: Float64Array;
  readonly length: number;

  constructor(columns: MarketColumns, selection: MarketSelection) {
    const { ordinals, ranks, length } = membersOf(columns, selection);
    const keys = keysOf(columns, selection.sort);
    this.#columns = columns;
    this.#ordinals = ordinals;
    this.#ranks = ranks;
    this.#keys = ordinals === null ? keys.frozen() : keysAt(keys.values, ordinals);
    this.length = length;
  }

  /** What keeping it costs at the most: lists of one moment have the keys of all markets in common. */
  get byteLength(): number {
    return (this.#ordinals?.byteLength ?? 0) + this.#keys.byteLength + this.#ranks.byteLength;
  }

  /** Gives back what it is made of; it must not be asked for anything after. */
  release(): void {
    if (this.#ordinals === null) this.#columns.search.room.give(this.#ranks);
  }

  /** The next places in order, up to `limit`, behind another that need not be in the list. */
  page(edge: MarketPlace | null, { order, limit }: { order: "asc" | "desc"; limit: number }) {
    const sign = order === "asc" ? 1 : -1;
    const ranks = this.#ranks;
    const { count: known, idStarts } = this.#columns;
    const edgeId = Buffer.from(edge?.conditionId.slice(2) ?? "", "hex");
    const compare = (one: number, other: number) => this.#compare(one, other, sign);
    const isBeforeEdge = (at: number) =>
      edge !== null &&
      ranks[at] === edge.rank &&
      this.#keys[at] === edge.key &&
      this.#compareId(this.#ordinalAt(at), edgeId) <= 0;
    const bar: Bar = {
      sign,
      edge: edge === null ? { rank: Infinity, key: 0 } : { rank: edge.rank, key: sign * edge.key },
      rank: 1,
      key: Infinity,
      idStart: Infinity,
    };
    const best: number[] = [];
    for (let at = this.#next(-1, bar); at !== -1; at = this.#next(at, bar)) {
      const worst = best[limit - 1];
      if (worst !== undefined && compare(at, worst) >= 0) continue;
      // What a fork has taken back since is no market any more.
      if (isBeforeEdge(at) || this.#ordinalAt(at) >= known) continue;
      insert(best, at, compare);
      if (best.length > limit) best.pop();
      const last = best[limit - 1];
      if (last === undefined) continue;
      bar.rank = ranks[last] ?? 0;
      bar.key = sign * (this.#keys[last] ?? 0);
      bar.idStart = idStarts.get(this.#ordinalAt(last));
    }
    return best.map((at) => this.#placeAt(at));
  }

  /**
   * The next item that clears the bar, -1 at the end. Young markets come last and have the largest
   * numbers: the best are met first.
   */
  #next(from: number, { sign, edge, rank: barRank, key: barKey, idStart }: Bar): number {
    const [ordinals, keys, ranks] = [this.#ordinals, this.#keys, this.#ranks];
    const idStarts = this.#columns.idStarts.values;
    const end = sign === 1 ? ranks.length : -1;
    let at = from !== -1 ? from + sign : sign === 1 ? 0 : ranks.length - 1;
    for (; at !== end; at += sign) {
      const rank = ranks[at] ?? 0;
      if (rank < barRank || rank > edge.rank) continue;
      const key = sign * (keys[at] ?? 0);
      if (rank === edge.rank && key < edge.key) continue;
      if (rank > barRank || key < barKey) return at;
      const ordinal = ordinals === null ? at : (ordinals[at] ?? 0);
      if (key === barKey && (idStarts[ordinal] ?? 0) <= idStart) return at;
    }
    return -1;
  }

  #compareId(ordinal: number, id: Uint8Array): number {
    const start = ordinal * idBytes;
    return Buffer.compare(this.#columns.ids.subarray(start, start + idBytes), id);
  }

  #compare(one: number, other: number, sign: number): number {
    const rank = (this.#ranks[other] ?? 0) - (this.#ranks[one] ?? 0);
    if (rank !== 0) return rank;
    const key = sign * ((this.#keys[one] ?? 0) - (this.#keys[other] ?? 0));
    if (key !== 0) return key;
    return compareIds(this.#columns.ids, this.#ordinalAt(one), this.#ordinalAt(other));
  }

  #placeAt(at: number): MarketPlace {
    const conditionId = this.#columns.conditionIdAt(this.#ordinalAt(at));
    return { rank: this.#ranks[at] ?? 0, key: this.#keys[at] ?? 0, conditionId };
  }

  #ordinalAt(at: number): number {
    return this.#ordinals === null ? at : (this.#ordinals[at] ?? 0);
  }
}

/** Compares the ids of two markets. */
function compareIds(ids: Uint8Array, one: number, other: number): number {
  for (let i = 0; i < idBytes; i += 1) {
    const difference = (ids[one * idBytes + i] ?? 0) - (ids[other * idBytes + i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Puts an item where it belongs in a short sorted list. */
function insert(
  sorted: number[],
  item: number,
  compare: (one: number, other: number) => number,
): void {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(sorted[middle] ?? 0, item) < 0) low = middle + 1;
    else high = middle;
  }
  sorted.splice(low, 0, item);
}

function keysOf(columns: MarketColumns, sort: MarketSort): Column<"f64"> | Column<"u32"> {
  switch (sort) {
    case "volume_24h":
      return columns.dayVolumeUsd;
    case "volume":
      return columns.volumeUsd;
    case "trades_24h":
      return columns.dayTrades;
    case "created_at":
      return columns.createdAt;
    case "last_trade_at":
      return columns.lastTradeAt;
    case "end_date":
      return columns.endMs;
  }
}

/** The keys of some markets, in their order. */
function keysAt(keys: ArrayLike<number>, ordinals: Int32Array): Float64Array {
  const found = new Float64Array(ordinals.length);
  for (let at = 0; at < ordinals.length; at += 1) found[at] = keys[ordinals[at] ?? 0] ?? 0;
  return found;
}

/** The markets that are asked for; without a search all with the same rank. */
function membersOf(columns: MarketColumns, selection: MarketSelection): Members {
  const candidates = candidatesOf(columns, selection);
  const { ordinals, ranks } = candidates;
  const flags = columns.flags.values;
  const listed = selection.ordinals === null ? marketFlags.listed : 0;
  const asked = selection.flags.asked | listed;
  const wanted = selection.flags.wanted | listed;
  let length = 0;
  for (let at = 0; at < ranks.length; at += 1) {
    if (ranks[at] === 0) continue;
    const ordinal = ordinals === null ? at : (ordinals[at] ?? 0);
    if (((flags[ordinal] ?? 0) & asked) === wanted) length += 1;
    else ranks[at] = 0;
  }
  for (const bound of boundsOf(columns, selection)) length = keepWithin(candidates, bound);
  const members = { ordinals, ranks, length };
  const isDense = ordinals === null && length * densePart >= ranks.length;
  if (isDense || length === ordinals?.length) return members;
  const compacted = compact(members);
  if (ordinals === null) columns.search.room.give(ranks);
  return compacted;
}

/** The markets that others need not be looked at for. */
function candidatesOf(
  columns: MarketColumns,
  { words, ordinals: asked }: MarketSelection,
): Omit<Members, "length"> {
  const hits = words === null ? null : columns.search.find(words, columns.count);
  if (asked !== null) {
    const ordinals = Int32Array.from(new Set(asked));
    const ranks = Array.from(ordinals, (one) => (hits === null ? 1 : scoreIn(hits, one)));
    return { ordinals, ranks: Uint16Array.from(ranks) };
  }
  if (hits === null)
    return { ordinals: null, ranks: columns.search.room.take(columns.count).fill(1) };
  return { ordinals: hits.ordinals, ranks: hits.scores };
}

function scoreIn({ ordinals, scores }: Hits, ordinal: number): number {
  const at = ordinals === null ? ordinal : ordinals.indexOf(ordinal);
  return scores[at] ?? 0;
}

/** The same members without those that have no rank in between. */
function compact({ ordinals, ranks, length }: Members): Members {
  const [kept, keptRanks] = [new Int32Array(length), new Uint16Array(length)];
  let found = 0;
  for (let at = 0; at < ranks.length; at += 1) {
    const rank = ranks[at] ?? 0;
    if (rank === 0) continue;
    kept[found] = ordinals === null ? at : (ordinals[at] ?? 0);
    keptRanks[found] = rank;
    found += 1;
  }
  return { ordinals: kept, ranks: keptRanks, length };
}

/** What besides flags a market has to pass: its labels, and bounds of its numbers. */
function boundsOf(
  columns: MarketColumns,
  { labels, minVolume, minDayVolume, createdFrom, createdBefore, ends }: MarketSelection,
): Bound[] {
  const bounds: Bound[] = Object.entries(labels).map(([kind, values]) => ({
    values: labelledWith(columns, kind as LabelKind, values),
    from: 1,
    before: Infinity,
  }));
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

/** Takes the rank from what has no number within the bound; how many keep theirs. */
function keepWithin(
  { ordinals, ranks }: Omit<Members, "length">,
  { values, from, before }: Bound,
): number {
  let length = 0;
  for (let at = 0; at < ranks.length; at += 1) {
    if (ranks[at] === 0) continue;
    const value = values[ordinals === null ? at : (ordinals[at] ?? 0)] ?? 0;
    if (value >= from && value < before) length += 1;
    else ranks[at] = 0;
  }
  return length;
}

function labelledWith(
  columns: MarketColumns,
  kind: LabelKind,
  values: readonly string[],
): Uint8Array {
  const marks = new Uint8Array(columns.count);
  for (const value of values) {
    columns.labels.scoreTerm(labelOf(kind, value) ?? "", new Uint8Array([0, 1]), marks);
  }
  return marks;
}
