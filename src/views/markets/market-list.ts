/**
 * Lists of markets and their pages. The numbers that order a list change all the time, so a list keeps
 * them as they were when it was requested. A page is selected by a scan over the list. With 1.5 million
 * markets, scans cost less than sorting all of them once.
 */
import type { ConditionId } from "../../base/ids.ts";
import { type Chunk, inChunks, stepItems } from "../disk/chunked-loop.ts";
import { idBytes } from "../disk/column.ts";
import type { MarketColumns } from "./market-columns.ts";
import {
  free,
  type MarketSelection,
  type Members,
  pick,
  presenceColumns,
  selectMembers,
  sortColumns,
} from "./market-selection.ts";

/** The position of a market in a list. It does not depend on what else the list contains. */
export type ListedMarket = {
  /** How well the market matches the search, then whether it has a value, as of `rankByValue`. Higher ranks come first. */
  readonly rank: number;
  /** The number that orders markets of equal rank; 0 for a market without a value. */
  readonly key: number;
  readonly conditionId: ConditionId;
};

/** Ranks are 16-bit integers. Comparing floating-point numbers would take twice as long. */
const rankMax = 65_535;

/** An item that is among the best. Its key is negated in descending order. */
type Chosen = { readonly ordinal: number; readonly rank: number; readonly key: number };

type Page = {
  readonly sign: 1 | -1;
  readonly limit: number;
  /** All items come after this position. Its key is negated in descending order. */
  readonly edge: { readonly rank: number; readonly key: number; readonly id: Uint8Array | null };
  /** The best items so far, in order, at most `limit`. */
  readonly best: Chosen[];
};

/** The markets of a list and the keys that order them, which are by ordinal if the ranks are. */
type RankedMarkets = Members & { readonly keys: Float64Array };

/** A list of markets as it was when it was requested. */
export class MarketList {
  readonly #columns: MarketColumns;
  readonly #markets: RankedMarkets;
  #isRetained = false;

  constructor(columns: MarketColumns, markets: RankedMarkets) {
    this.#columns = columns;
    this.#markets = markets;
  }

  get length(): number {
    return this.#markets.length;
  }

  /** The most memory it can use. Dense lists requested at the same time share their keys. */
  get byteLength(): number {
    const { keys, ranks, ordinals } = this.#markets;
    return keys.byteLength + ranks.byteLength + (ordinals?.byteLength ?? 0);
  }

  /** Leaves the memory of the list to the garbage collector: an export reads the list in several turns. */
  retain(): void {
    this.#isRetained = true;
  }

  /** Frees the memory of a list that is not retained. The list then has no more pages. */
  release(): void {
    if (this.#isRetained) return;
    const { ranks, ordinals } = this.#markets;
    free(ranks);
    if (ordinals !== null) free(ordinals);
  }

  /** Returns the next positions in order, at most `limit`, after `edge`, which need not be in the list. */
  page(
    edge: ListedMarket | null,
    { order, limit }: { order: "asc" | "desc"; limit: number },
  ): ListedMarket[] {
    const sign = order === "asc" ? 1 : -1;
    const page: Page = { sign, limit, edge: getEdge(edge, sign), best: [] };
    const { length } = this.#markets.ranks;
    const chunks = Math.ceil(length / stepItems);
    // New markets have the highest ordinals, and usually the largest keys: this order finds the best first.
    for (let turn = 0; turn < chunks; turn += 1) {
      const from = stepItems * (sign === 1 ? turn : chunks - 1 - turn);
      this.#choose(page, { from, to: Math.min(from + stepItems, length) });
    }
    return page.best.map(({ ordinal, rank, key }) => {
      return { rank, key: sign * key, conditionId: this.#columns.conditionIdAt(ordinal) };
    });
  }

  /** Adds the best items of a chunk to a page. Calls are short for the same reason as in `inChunks`. */
  #choose(page: Page, { from, to }: Chunk): void {
    const { sign } = page;
    const { ranks, keys, ordinals } = this.#markets;
    const end = sign === 1 ? to : from - 1;
    let at = this.#next(page, sign === 1 ? from : to - 1, end);
    for (; at !== end; at = this.#next(page, at + sign, end)) {
      const [rank, key] = [ranks[at] ?? 0, sign * (keys[at] ?? 0)];
      this.#insert(page, { ordinal: ordinals?.[at] ?? at, rank, key });
    }
  }

  /** Finds the next item after the edge that can be among the best. This loop dominates the cost of a page. */
  #next({ sign, limit, edge, best }: Page, from: number, end: number): number {
    const { ranks, keys, ordinals } = this.#markets;
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

  /** Inserts an item among the best, unless its id puts it before the edge or after the best at equal rank and key. */
  #insert({ limit, edge, best }: Page, item: Chosen): void {
    const { ids } = this.#columns;
    if (this.#columns.isReverted(item.ordinal)) return;
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

function getEdge(edge: ListedMarket | null, sign: 1 | -1): Page["edge"] {
  if (edge === null) return { rank: rankMax + 1, key: 0, id: null };
  const { rank, key, conditionId } = edge;
  return { rank, key: sign * key, id: Buffer.from(conditionId.slice(2), "hex") };
}

/** Returns the selected markets as they are now. */
export function listMarkets(columns: MarketColumns, selection: MarketSelection): MarketList {
  const members = selectMembers(columns, selection);
  const { ordinals, ranks, length } = members;
  const presence = presenceColumns[selection.sort];
  if (presence !== undefined) {
    const { values } = columns[presence];
    inChunks(ranks.length, ({ from, to }) => {
      for (let at = from; at < to; at += 1) {
        const value = values[ordinals === null ? at : (ordinals[at] ?? 0)] ?? 0;
        ranks[at] = rankByValue(ranks[at] ?? 0, value);
      }
      return 0;
    });
  }
  const all = columns[sortColumns[selection.sort]];
  const keys =
    ordinals === null ? all.snapshot() : pick(all.values, ordinals, new Float64Array(length));
  return new MarketList(columns, { ...members, keys });
}

/**
 * Ranks an item without a value, for which `value` is 0, below those of its rank that have one, in both orders. The ranks
 * of searches are below 2^15, and a rank of 0 remains 0.
 */
export function rankByValue(rank: number, value: number): number {
  return rank === 0 ? 0 : 2 * rank - (value === 0 ? 1 : 0);
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
