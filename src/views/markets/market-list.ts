/**
 * Lists of markets: which of all markets a list has, and the pages of it. What a list is ordered by
 * changes all the time, so a list is what its order was made of when it was requested; a page is
 * then chosen by walking over it, which at 1.5 million markets costs less than sorting them once.
 */
import type { ConditionId } from "../../base/ids.ts";
import { type Chunk, inChunks, stepItems } from "../disk/chunked-loop.ts";
import type { Column } from "../disk/column.ts";
import { type Ranks, rankedOf } from "../search/market-search.ts";
import type { MarketColumns } from "./market-columns.ts";
import { type MarketSelection, type MarketSort, membersOf } from "./market-selection.ts";

/** Where a market is in a list: keys that say it fully, whatever else the list has. */
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
/** Lists of a smaller part of all markets than this have their own ranks and keys, others those of all markets. */
const densePart = 8;

/** An item that is among the best; its key with its sign. */
type Chosen = { readonly ordinal: number; readonly rank: number; readonly key: number };

type Page = {
  readonly sign: 1 | -1;
  readonly limit: number;
  /** Items are behind it; its key with its sign. */
  readonly edge: { readonly rank: number; readonly key: number; readonly id: Uint8Array | null };
  /** In order, `limit` of them at most. */
  readonly best: Chosen[];
};

/** Some markets with their ranks and what orders them. */
export type RankedMarkets = {
  /** `null` where ranks and keys are by ordinal; a market of rank 0 is not in the list then. */
  readonly ordinals: Int32Array<ArrayBuffer> | null;
  readonly ranks: Ranks;
  readonly length: number;
  readonly keys: Float64Array;
};

/** The markets of a list and what orders them, as they were when it was requested. */
export class MarketList {
  readonly #columns: MarketColumns;
  /** `null` where ranks and keys are by ordinal. */
  readonly #ordinals: Int32Array<ArrayBuffer> | null;
  /** Above 0 for each market of the list; all the same without a search. */
  readonly #ranks: Ranks;
  readonly #keys: Float64Array;
  #isRetained = false;
  readonly length: number;

  constructor(columns: MarketColumns, markets: MarketSelection | RankedMarkets) {
    const ranked = "keys" in markets ? markets : rankedMarkets(columns, markets);
    this.#columns = columns;
    this.#ordinals = ranked.ordinals;
    this.#ranks = ranked.ranks;
    this.#keys = ranked.keys;
    this.length = ranked.length;
  }

  /** What it takes at the most: dense lists of one moment share their keys. */
  get byteLength(): number {
    return this.#keys.byteLength + this.#ranks.byteLength + (this.#ordinals?.byteLength ?? 0);
  }

  /** Leaves the memory of the list to the collector: an export reads it in several turns. */
  retain(): void {
    this.#isRetained = true;
  }

  /** Frees the memory of a list that is not retained; it has no pages any more. */
  release(): void {
    if (this.#isRetained) return;
    free(this.#ranks);
    if (this.#ordinals !== null) free(this.#ordinals);
  }

  /** The next places in order, up to `limit`, behind another that need not be in the list. */
  page(
    edge: MarketPlace | null,
    { order, limit }: { order: "asc" | "desc"; limit: number },
  ): MarketPlace[] {
    const sign = order === "asc" ? 1 : -1;
    const page: Page = { sign, limit, edge: edgeOf(edge, sign), best: [] };
    const { length } = this.#ranks;
    const chunks = Math.ceil(length / stepItems);
    // Young markets come last and have the largest numbers: this way the best are met first.
    for (let turn = 0; turn < chunks; turn += 1) {
      const from = stepItems * (sign === 1 ? turn : chunks - 1 - turn);
      this.#choose(page, { from, to: Math.min(from + stepItems, length) });
    }
    return page.best.map(({ ordinal, rank, key }) => {
      return { rank, key: sign * key, conditionId: this.#columns.conditionIdAt(ordinal) };
    });
  }

  /** Short calls, as in `inChunks`. */
  #choose(page: Page, { from, to }: Chunk): void {
    const { sign } = page;
    const end = sign === 1 ? to : from - 1;
    let at = this.#next(page, sign === 1 ? from : to - 1, end);
    for (; at !== end; at = this.#next(page, at + sign, end)) {
      const [rank, key] = [this.#ranks[at] ?? 0, sign * (this.#keys[at] ?? 0)];
      this.#insert(page, { ordinal: this.#ordinals?.[at] ?? at, rank, key });
    }
  }

  /** The first item from `at` on that may be among the best and is not before the edge. What a page costs is this loop. */
  #next({ sign, limit, edge, best }: Page, from: number, end: number): number {
    const [ranks, keys, ordinals] = [this.#ranks, this.#keys, this.#ordinals];
    const leads = this.#columns.idLeads.values;
    const last = best[limit - 1];
    const [rankMin, keyMax] = [last?.rank ?? 1, last?.key ?? Infinity];
    const leadMax = last === undefined ? Infinity : (leads[last.ordinal] ?? 0);
    for (let at = from; at !== end; at = (at + sign) | 0) {
      const rank = ranks[at] ?? 0;
      if (rank < rankMin || rank > edge.rank) continue;
      const key = sign * (keys[at] ?? 0);
      if (rank === edge.rank && key < edge.key) continue;
      if (rank > rankMin || key < keyMax) return at;
      const isBehind =
        key > keyMax || (leads[ordinals === null ? at : (ordinals[at] ?? 0)] ?? 0) > leadMax;
      if (!isBehind) return at;
    }
    return end;
  }

  /** Puts an item among the best, unless the order of ids, where numbers are equal, has it elsewhere. */
  #insert({ limit, edge, best }: Page, item: Chosen): void {
    const { count, ids } = this.#columns;
    // What a fork has reverted since is no market any more.
    if (item.ordinal >= count) return;
    const isAtEdge = item.rank === edge.rank && item.key === edge.key;
    if (
      isAtEdge &&
      edge.id !== null &&
      compareIds(ids, item.ordinal, { bytes: edge.id, start: 0 }) <= 0
    )
      return;
    const last = best[limit - 1];
    if (last !== undefined && compareChosen(ids, item, last) >= 0) return;
    const at = best.findIndex((other) => compareChosen(ids, item, other) < 0);
    best.splice(at === -1 ? best.length : at, 0, item);
    if (best.length > limit) best.pop();
  }
}

function edgeOf(edge: MarketPlace | null, sign: 1 | -1): Page["edge"] {
  if (edge === null) return { rank: rankMax + 1, key: 0, id: null };
  const { rank, key, conditionId } = edge;
  return { rank, key: sign * key, id: Buffer.from(conditionId.slice(2), "hex") };
}

function rankedMarkets(columns: MarketColumns, selection: MarketSelection): RankedMarkets {
  const { ordinals, ranks, length } = membersOf(columns, selection);
  const keys = keysOf(columns, selection.sort);
  const isDense = ordinals === null && length * densePart >= ranks.length;
  if (isDense) return { ordinals, ranks, length, keys: keys.snapshot() };
  const own = ordinals ?? rankedOf(ranks, length);
  const ownRanks = ordinals === null ? pick(ranks, own, new Uint16Array(length)) : ranks;
  const all = ordinals === null ? ranks : selection.hits?.ranks;
  if (all !== undefined) free(all);
  return {
    ordinals: own,
    ranks: ownRanks,
    length,
    keys: pick(keys.values, own, new Float64Array(length)),
  };
}

/**
 * Frees numbers that nothing reads any more. A search takes some MB, and at that rate the collector runs several times
 * a second, each time for longer than a search.
 */
function free({ buffer }: { readonly buffer: ArrayBuffer }): void {
  buffer.transfer(0);
}

/** The numbers at some places; `from` with a function takes ten times as long. */
function pick<Numbers extends Uint16Array | Float64Array>(
  all: Numbers,
  places: Int32Array,
  picked: Numbers,
): Numbers {
  inChunks(places.length, ({ from, to }) => {
    for (let at = from; at < to; at += 1) picked[at] = all[places[at] ?? 0] ?? 0;
    return 0;
  });
  return picked;
}

function compareChosen(ids: Uint8Array, one: Chosen, other: Chosen): number {
  if (one.rank !== other.rank) return other.rank - one.rank;
  if (one.key !== other.key) return one.key - other.key;
  return compareMarkets(ids, one.ordinal, other.ordinal);
}

/** Compares the ids of two markets. */
export function compareMarkets(ids: Uint8Array, one: number, other: number): number {
  return compareIds(ids, one, { bytes: ids, start: other * idBytes });
}

function compareIds(
  ids: Uint8Array,
  ordinal: number,
  { bytes, start }: { readonly bytes: Uint8Array; readonly start: number },
): number {
  for (let i = 0; i < idBytes; i += 1) {
    const difference = (ids[ordinal * idBytes + i] ?? 0) - (bytes[start + i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function keysOf(columns: MarketColumns, sort: MarketSort): Column<"f64"> {
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
