/**
 * Lists of markets: which of all markets a list has, and the pages of it. What a list is ordered by
 * changes all the time, so a list is what its order was made of when it was asked for; a page is
 * then chosen by walking over it, which at 1.5 million markets costs less than sorting them once.
 */
import type { ConditionId } from "../../base/ids.ts";
import { type Chunk, inChunks, stepItems } from "../disk/chunked-loop.ts";
import type { Column } from "../disk/column.ts";
import type { ColumnSnapshot, Numbers } from "../disk/column-history.ts";
import { type Ranks, rankedOf } from "../search/market-search.ts";
import type { MarketColumns } from "./market-columns.ts";
import { type MarketSelection, type MarketSort, membersOf } from "./market-selection.ts";

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

/** Items that are looked at together, and their keys. */
type Step = Chunk & { readonly keys: Float64Array };

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

/** The markets of a list and what orders them, as they were when it was asked for. */
export class MarketList {
  readonly #columns: MarketColumns;
  /** `null` where ranks and keys stand by ordinal. */
  readonly #ordinals: Int32Array | null;
  /** Above 0 for each market of the list; all the same without a search. */
  readonly #ranks: Ranks;
  readonly #keys: ColumnSnapshot;
  readonly length: number;

  constructor(columns: MarketColumns, selection: MarketSelection) {
    const { ordinals, ranks, length } = membersOf(columns, selection);
    const keys = keysOf(columns, selection.sort);
    const isDense = ordinals === null && length * densePart >= ranks.length;
    this.#columns = columns;
    this.length = length;
    this.#ordinals = ordinals ?? (isDense ? null : rankedOf(ranks, length));
    if (this.#ordinals === null) {
      this.#ranks = ranks;
      this.#keys = keys.hold();
      return;
    }
    const own = numbersOf(this.#ordinals, keys.values, new Float64Array(length));
    this.#keys = { byteLength: own.byteLength, read: (work) => work(own), release: () => {} };
    this.#ranks =
      ordinals === null ? numbersOf(this.#ordinals, ranks, new Uint16Array(length)) : ranks;
    if (ordinals === null) columns.search.release(ranks);
  }

  /** What keeping it costs at the most. */
  get byteLength(): number {
    return this.#keys.byteLength + this.#ranks.byteLength + (this.#ordinals?.byteLength ?? 0);
  }

  /** Says that it is not asked for anything any more. */
  release(): void {
    this.#keys.release();
    if (this.#ordinals === null) this.#columns.search.release(this.#ranks);
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
    this.#keys.read((keys) => {
      for (const step of this.#steps(keys, sign)) this.#choose(step, best, { bar, edgeId, limit });
    });
    return best.map(({ ordinal, rank, key }) => {
      return { rank, key: sign * key, conditionId: this.#columns.conditionIdAt(ordinal) };
    });
  }

  /** Puts what is better than the last of the best in its place. */
  #choose(
    step: Step,
    best: Chosen[],
    { bar, edgeId, limit }: { bar: Bar; edgeId: Buffer | null; limit: number },
  ): void {
    const { sign, edge } = bar;
    const { count: known, ids, idStarts } = this.#columns;
    const compare = (one: Chosen, other: Chosen) => compareChosen(ids, one, other);
    for (let at = this.#next(-1, step, bar); at !== -1; at = this.#next(at, step, bar)) {
      const [ordinal, rank] = [this.#ordinalAt(at), this.#ranks[at] ?? 0];
      const item = { ordinal, rank, key: sign * (step.keys[at - step.from] ?? 0) };
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
  #next(after: number, { from, to, keys }: Step, bar: Bar): number {
    const ranks = this.#ranks;
    const { sign, rank: barRank } = bar;
    const stop = sign === 1 ? to : from - 1;
    let at = after !== -1 ? after + sign : sign === 1 ? from : to - 1;
    for (; at !== stop; at += sign) {
      // Most have less, which has to be all that is looked at.
      if ((ranks[at] ?? 0) < barRank) continue;
      if (this.#isClear(at, sign * (keys[at - from] ?? 0), bar)) return at;
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

  /**
   * The items in short steps, as in `inChunks`, from where the best are expected. Keys come as numbers of
   * one kind: a loop that has met two kinds takes twice as long.
   */
  *#steps(all: Numbers, sign: number): Generator<Step> {
    const { length } = this.#ranks;
    const count = Math.ceil(length / stepItems);
    const room = all instanceof Float64Array ? null : new Float64Array(stepItems);
    for (let turn = 0; turn < count; turn += 1) {
      const from = stepItems * (sign === 1 ? turn : count - 1 - turn);
      const to = Math.min(from + stepItems, length);
      room?.set(all.subarray(from, to));
      yield { from, to, keys: room ?? (all.subarray(from, to) as Float64Array) };
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

/** The numbers of some ordinals, in their order. */
function numbersOf<Target extends Float64Array | Uint16Array>(
  ordinals: Int32Array,
  all: ArrayLike<number>,
  target: Target,
): Target {
  inChunks(ordinals.length, (step) => pick(ordinals, { all, target }, step));
  return target;
}

function pick(
  ordinals: Int32Array,
  { all, target }: { all: ArrayLike<number>; target: Float64Array | Uint16Array },
  { from, to }: Chunk,
): number {
  for (let at = from; at < to; at += 1) target[at] = all[ordinals[at] ?? 0] ?? 0;
  return to - from;
}
