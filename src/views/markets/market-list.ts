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
  readonly ordinals: Int32Array | null;
  readonly ranks: Ranks;
  readonly length: number;
  readonly keys: Float64Array;
};

/** The markets of a list and what orders them, as they were when it was requested. */
export class MarketList {
  readonly #columns: MarketColumns;
  /** `null` where ranks and keys are by ordinal. */
  readonly #ordinals: Int32Array | null;
  /** Above 0 for each market of the list; all the same without a search. */
  readonly #ranks: Ranks;
  readonly #keys: Float64Array;
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

  /** Short calls, as in `inChunks`; what most items fail comes first, compared with plain numbers. */
  #choose(page: Page, { from, to }: Chunk): void {
    const { sign, edge } = page;
    const [ranks, keys] = [this.#ranks, this.#keys];
    let bar = this.#barOf(page);
    for (let step = 0; step < to - from; step += 1) {
      const at = sign === 1 ? from + step : to - 1 - step;
      const rank = ranks[at] ?? 0;
      if (rank < bar.rank || rank > edge.rank) continue;
      const key = sign * (keys[at] ?? 0);
      if (rank === bar.rank && key > bar.key) continue;
      if (rank === edge.rank && key < edge.key) continue;
      const ordinal = this.#ordinalAt(at);
      if (bar.ordinal !== -1 && rank === bar.rank && key === bar.key) {
        if (compareMarkets(this.#columns.ids, ordinal, bar.ordinal) >= 0) continue;
      }
      this.#insert(page, { ordinal, rank, key });
      bar = this.#barOf(page);
    }
  }

  /** What an item has to come before: the last of the best, or anything in the list while those are few. */
  #barOf({ limit, best }: Page): Chosen {
    return best[limit - 1] ?? { ordinal: -1, rank: 1, key: Infinity };
  }

  /** Puts an item among the best, unless the order of ids, where numbers are equal, has it elsewhere. */
  #insert({ limit, edge, best }: Page, item: Chosen): void {
    const { count, ids } = this.#columns;
    // What a fork has reverted since is no market any more.
    if (item.ordinal >= count) return;
    const isAtEdge = item.rank === edge.rank && item.key === edge.key;
    if (isAtEdge && edge.id !== null && compareIds(ids, item.ordinal, edge.id) <= 0) return;
    const at = best.findIndex((other) => compareChosen(ids, item, other) < 0);
    best.splice(at === -1 ? best.length : at, 0, item);
    if (best.length > limit) best.pop();
  }

  #ordinalAt(at: number): number {
    return this.#ordinals === null ? at : (this.#ordinals[at] ?? 0);
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
  return {
    ordinals: own,
    ranks: ordinals === null ? pick(ranks, own, new Uint16Array(length)) : ranks,
    length,
    keys: pick(keys.values, own, new Float64Array(length)),
  };
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
  for (let i = 0; i < idBytes; i += 1) {
    const difference = (ids[one * idBytes + i] ?? 0) - (ids[other * idBytes + i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function compareIds(ids: Uint8Array, ordinal: number, id: Uint8Array): number {
  for (let i = 0; i < idBytes; i += 1) {
    const difference = (ids[ordinal * idBytes + i] ?? 0) - (id[i] ?? 0);
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
