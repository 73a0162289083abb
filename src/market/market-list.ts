/**
 * Lists of markets: which of all markets a list has, and the pages of it. What a list is ordered by
 * changes all the time, so a list is what its order was made of when it was asked for; a page is
 * then chosen by walking over it, which at 1.5 million markets costs less than sorting them once.
 */
import type { ConditionId } from "../base/ids.ts";
import type { Column } from "./column.ts";
import type { MarketColumns } from "./market-columns.ts";
import {
  type MarketSelection,
  type MarketSort,
  type Members,
  membersOf,
} from "./market-members.ts";

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

/** What a list is kept as, and the block of memory that it stands in, but for keys shared by some. */
type Kept = {
  readonly ordinals: Int32Array | null;
  readonly ranks: Uint16Array;
  readonly keys: Float64Array;
  readonly block: ArrayBuffer;
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
  readonly #block: ArrayBuffer;
  readonly length: number;

  constructor(columns: MarketColumns, selection: MarketSelection) {
    const members = membersOf(columns, selection);
    const keys = keysOf(columns, selection.sort);
    const kept = keptFrom(columns, members, keys);
    this.#columns = columns;
    this.#ordinals = kept.ordinals;
    this.#ranks = kept.ranks;
    this.#keys = kept.keys;
    this.#block = kept.block;
    this.length = members.length;
  }

  /** What keeping it costs at the most: lists of one moment have the keys of all markets in common. */
  get byteLength(): number {
    return this.#block.byteLength + (this.#ordinals === null ? this.#keys.byteLength : 0);
  }

  /** Gives back what it is made of; it must not be asked for anything after. */
  release(): void {
    this.#columns.rooms.give(this.#block);
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

/** A list as it is kept: most markets by ordinal, with keys that are shared; few with keys of their own. */
function keptFrom(
  columns: MarketColumns,
  { ordinals, ranks, length }: Members,
  keys: Column<"f64"> | Column<"u32">,
): Kept {
  const own = ordinals === null ? (ranks.buffer as ArrayBuffer) : null;
  if (own !== null && length * densePart >= ranks.length) {
    return { ordinals: null, ranks, keys: keys.frozen(), block: own };
  }
  const block = columns.rooms.take(length * (8 + 4 + 2));
  const kept = {
    ordinals: new Int32Array(block, length * 8, length),
    ranks: new Uint16Array(block, length * 12, length),
    keys: new Float64Array(block, 0, length),
    block,
  };
  fill(kept, { ordinals, ranks }, keys.values);
  if (own !== null) columns.rooms.give(own);
  return kept;
}

/** Takes over the members that have a rank. */
function fill(
  kept: { ordinals: Int32Array; ranks: Uint16Array; keys: Float64Array },
  { ordinals, ranks }: Omit<Members, "length">,
  keys: ArrayLike<number>,
): void {
  let found = 0;
  for (let at = 0; at < ranks.length; at += 1) {
    const rank = ranks[at] ?? 0;
    if (rank === 0) continue;
    const ordinal = ordinals === null ? at : (ordinals[at] ?? 0);
    kept.ordinals[found] = ordinal;
    kept.ranks[found] = rank;
    kept.keys[found] = keys[ordinal] ?? 0;
    found += 1;
  }
}
