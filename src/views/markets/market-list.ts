/**
 * Lists of markets: which of all markets a list has, and the pages of it. What a list is ordered by
 * changes all the time, so a list is what its order was made of when it was asked for; a page is
 * then chosen by walking over it, which at 1.5 million markets costs less than sorting them once.
 */
import type { ConditionId } from "../../base/ids.ts";
import { type BlockBounds, blockItems } from "../disk/block-bounds.ts";
import { type Chunk, inChunks } from "../disk/chunked-loop.ts";
import type { Column } from "../disk/column.ts";
import type { ColumnSnapshot } from "../disk/column-history.ts";
import type { MarketColumns } from "./market-columns.ts";
import {
  type MarketSelection,
  type MarketSort,
  type Members,
  membersOf,
} from "./market-selection.ts";

/** Where a market stands in a list: keys that say it fully, whatever else the list holds. */
export type MarketPlace = {
  /** How well it answers the search; 1 without one. Higher is better and comes first. */
  readonly rank: number;
  /** What the list is ordered by; 0 where a market has no value. */
  readonly key: number;
  readonly conditionId: ConditionId;
};

const idBytes = 32;
/** Ranks have two bytes; a number that is no integer would be compared in twice the time. */
const rankMax = 65_535;
/** Lists of a smaller part of all markets than this hold what they are of, the others all. */
const densePart = 8;

/** What a list is kept as, and the block of memory that it stands in, but for keys shared by all. */
type Kept = {
  readonly ordinals: Int32Array | null;
  readonly ranks: Uint16Array;
  readonly keys: ColumnSnapshot;
  readonly block: ArrayBuffer;
};

/** An item that is among the best; its key with its sign. */
type Chosen = { readonly ordinal: number; readonly rank: number; readonly key: number };

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

/** Items that are looked at together, and their keys. */
type Interval = { readonly start: number; readonly end: number; readonly keys: Float64Array };

/** Keys of a list, of whatever kind. */
type Keys = ArrayLike<number> & { subarray(from: number, to: number): ArrayLike<number> };

/** The markets of a list and what orders them, as they were when it was asked for. */
export class MarketList {
  readonly #columns: MarketColumns;
  readonly #ordinals: Int32Array | null;
  /** Above 0 for each market of the list; all the same without a search. */
  readonly #ranks: Uint16Array;
  readonly #keys: ColumnSnapshot;
  readonly #block: ArrayBuffer;
  /** No rank is higher. */
  readonly #top: number;
  readonly length: number;

  constructor(columns: MarketColumns, selection: MarketSelection) {
    const members = membersOf(columns, selection);
    const kept = keptFrom(columns, members, keysOf(columns, selection.sort));
    this.#columns = columns;
    this.#ordinals = kept.ordinals;
    this.#ranks = kept.ranks;
    this.#keys = kept.keys;
    this.#block = kept.block;
    this.#top = members.top;
    this.length = members.length;
  }

  /** What keeping it costs at the most. */
  get byteLength(): number {
    return this.#block.byteLength + this.#keys.byteLength;
  }

  /** Gives back what it is made of; it must not be asked for anything after. */
  release(): void {
    this.#keys.release();
    this.#columns.rooms.give(this.#block);
  }

  /** The next places in order, up to `limit`, behind another that need not be in the list. */
  page(
    edge: MarketPlace | null,
    { order, limit }: { order: "asc" | "desc"; limit: number },
  ): MarketPlace[] {
    const sign = order === "asc" ? 1 : -1;
    const best: Chosen[] = [];
    const bar: Bar = {
      sign,
      edge:
        edge === null ? { rank: rankMax + 1, key: 0 } : { rank: edge.rank, key: sign * edge.key },
      rank: 1,
      key: Infinity,
      idStart: Infinity,
    };
    const edgeId = edge === null ? null : Buffer.from(edge.conditionId.slice(2), "hex");
    this.#keys.read((keys, bounds) => {
      // Once there are enough with the highest rank, only keys and ids can be better.
      const isBelow = (interval: number) =>
        best.length === limit && bar.rank >= this.#top && this.#isBelow(bar, interval, bounds);
      for (const interval of this.#ranges(keys, sign, isBelow)) {
        this.#choose(interval, best, { bar, edgeId, limit });
      }
    });
    return best.map(({ ordinal, rank, key }) => {
      return { rank, key: sign * key, conditionId: this.#columns.conditionIdAt(ordinal) };
    });
  }

  /** Puts what is better than the last of the best in its place. */
  #choose(
    { start, end, keys }: Interval,
    best: Chosen[],
    { bar, edgeId, limit }: { bar: Bar; edgeId: Buffer | null; limit: number },
  ): void {
    const { sign, edge } = bar;
    const { count: known, ids, idStarts } = this.#columns;
    const step = { start, end, keys };
    const compare = (one: Chosen, other: Chosen) => compareChosen(ids, one, other);
    for (let at = this.#next(-1, step, bar); at !== -1; at = this.#next(at, step, bar)) {
      const [ordinal, rank] = [this.#ordinalAt(at), this.#ranks[at] ?? 0];
      const item = { ordinal, rank, key: sign * (keys[at - start] ?? 0) };
      const worst = best[limit - 1];
      if (worst !== undefined && compare(item, worst) >= 0) continue;
      // What a fork has reverted since is no market any more.
      if (ordinal >= known) continue;
      const isAtEdge = edgeId !== null && rank === edge.rank && item.key === edge.key;
      if (isAtEdge && Buffer.compare(idAt(ids, ordinal), edgeId) <= 0) continue;
      insert(best, item, compare);
      if (best.length > limit) best.pop();
      const last = best[limit - 1];
      if (last === undefined) continue;
      bar.rank = last.rank;
      bar.key = last.key;
      bar.idStart = idStarts.get(last.ordinal);
    }
  }

  /**
   * The next item of a range that clears the bar, -1 at the end. Young markets come last and have the
   * largest numbers: the best are met first.
   */
  #next(from: number, { start, end, keys }: Interval, bar: Bar): number {
    const ranks = this.#ranks;
    const { sign, rank: barRank } = bar;
    const stop = sign === 1 ? end : start - 1;
    let at = from !== -1 ? from + sign : sign === 1 ? start : end - 1;
    for (; at !== stop; at += sign) {
      // Most have less, which has to be all that is looked at.
      if ((ranks[at] ?? 0) < barRank) continue;
      if (this.#isClear(at, sign * (keys[at - start] ?? 0), bar)) return at;
    }
    return -1;
  }

  /** Whether an item whose rank is not too low clears the bar; its key with its sign. */
  #isClear(at: number, key: number, { edge, rank: barRank, key: barKey, idStart }: Bar): boolean {
    const rank = this.#ranks[at] ?? 0;
    if (rank >= edge.rank && (rank > edge.rank || key < edge.key)) return false;
    if (rank > barRank || key < barKey) return true;
    return key === barKey && this.#columns.idStarts.get(this.#ordinalAt(at)) <= idStart;
  }

  /** Whether nothing in a range is better than the last of the best, its rank aside. */
  #isBelow({ sign, key, idStart }: Bar, interval: number, bounds: BlockBounds | null): boolean {
    if (bounds === null) return false;
    const nearest = sign === 1 ? bounds.low(interval) : -bounds.high(interval);
    if (nearest !== key) return nearest > key;
    return this.#columns.idStarts.bounds.low(interval) > idStart;
  }

  /**
   * The items of a list that are to be looked at, from where the best are expected. Keys come as numbers
   * of one kind: a loop that has met two kinds takes twice as long.
   */
  *#ranges(all: Keys, sign: number, isPassed: (interval: number) => boolean): Generator<Interval> {
    const { length } = this.#ranks;
    const room = all instanceof Float64Array ? null : new Float64Array(blockItems);
    const count = Math.ceil(length / blockItems);
    for (let turn = 0; turn < count; turn += 1) {
      const interval = sign === 1 ? turn : count - 1 - turn;
      if (isPassed(interval)) continue;
      const start = interval * blockItems;
      const end = Math.min(start + blockItems, length);
      const part = all.subarray(start, end);
      room?.set(part);
      const keys = part instanceof Float64Array ? part : (room ?? new Float64Array(0));
      yield { start, end, keys };
    }
  }

  #ordinalAt(at: number): number {
    return this.#ordinals === null ? at : (this.#ordinals[at] ?? 0);
  }
}

function compareChosen(ids: Uint8Array, one: Chosen, other: Chosen): number {
  if (one.rank !== other.rank) return other.rank - one.rank;
  if (one.key !== other.key) return one.key - other.key;
  return compareIds(ids, one.ordinal, other.ordinal);
}

function idAt(ids: Uint8Array, ordinal: number): Uint8Array {
  return ids.subarray(ordinal * idBytes, (ordinal + 1) * idBytes);
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
  sorted: Chosen[],
  item: Chosen,
  compare: (one: Chosen, other: Chosen) => number,
): void {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = sorted[middle];
    if (other !== undefined && compare(other, item) < 0) low = middle + 1;
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
    return { ordinals: null, ranks, keys: keys.hold(), block: own };
  }
  // One more than there are is written to while they are looked for.
  const block = columns.rooms.take(length * (8 + 4 + 2) + 4);
  const places = new Int32Array(block, length * 8, length + 1);
  inChunks(ranks.length, (step, found) => placesOfRanked(ranks, { places, found }, step));
  const kept = {
    ordinals: places.subarray(0, length),
    ranks: new Uint16Array(block, length * 12 + 4, length),
    keys: new Float64Array(block, 0, length),
  };
  const taken = { ordinals, ranks, keys: keys.values };
  inChunks(length, (step) => fill(kept, taken, step));
  if (own !== null) columns.rooms.give(own);
  return { ...kept, keys: ownKeys(kept.keys), block };
}

/** Keys that no one else has, and which stand in the list's own block. */
function ownKeys(keys: Float64Array<ArrayBuffer>): ColumnSnapshot {
  return { byteLength: 0, read: (work) => work(keys, null), release: () => {} };
}

/**
 * Writes down the places that have a rank behind those found before, without a branch for the others,
 * which no processor could guess; how many they are.
 */
function placesOfRanked(
  ranks: Uint16Array,
  { places, found: before }: { places: Int32Array; found: number },
  { from, to }: Chunk,
): number {
  let found = before;
  for (let at = from; at < to; at = (at + 1) | 0) {
    places[found] = at;
    // 1 for each that is above 0.
    found = (found + (-(ranks[at] ?? 0) >>> 31)) | 0;
  }
  return found - before;
}

/** Takes over the members at the places that stand where their ordinals belong; how many. */
function fill(
  kept: { ordinals: Int32Array; ranks: Uint16Array; keys: Float64Array },
  { ordinals, ranks, keys }: Pick<Members, "ordinals" | "ranks"> & { keys: ArrayLike<number> },
  { from, to }: Chunk,
): number {
  for (let found = from; found < to; found += 1) {
    const at = kept.ordinals[found] ?? 0;
    const ordinal = ordinals === null ? at : (ordinals[at] ?? 0);
    kept.ordinals[found] = ordinal;
    kept.ranks[found] = ranks[at] ?? 0;
    kept.keys[found] = keys[ordinal] ?? 0;
  }
  return to - from;
}
