/**
 * Lists of markets: which of all markets a list has, and the pages of it. What a list is ordered by
 * changes all the time, so a list is what its order was made of when it was asked for; a page is
 * then chosen by walking over it, which at 1.5 million markets costs less than sorting them once.
 */
import type { ConditionId } from "../base/ids.ts";
import { type LabelKind, labelOf, type MarketColumns, marketFlags } from "./market-columns.ts";

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
  /** How well it answers the search; 0 without one. Higher is better and comes first. */
  readonly rank: number;
  /** What the list is ordered by; 0 where a market has no value. */
  readonly key: number;
  readonly conditionId: ConditionId;
};

const idBytes = 32;
/** What a field is worth, times 3 for the whole word, 2 for the start of one and 1 within one. */
const titleWorth = { question: 100, names: 32, outcomes: 30 };
const descriptionWorth = 10;
/**
 * What is found where is bounded by what it costs, and by what it is worth: nearly all titles have
 * a given letter within a word, and nearly all descriptions have any two.
 */
const titleWithinBytesMin = 2;
const descriptionStartBytesMin = 3;

const titleWeights = weightsOf(Object.values(titleWorth));
const titleStarts = { ...titleWeights, within: null };
const descriptionWeights = { ...weightsOf([descriptionWorth]), within: null };

/** The markets of a list and what orders them, as they were when it was asked for. */
export class MarketList {
  readonly #columns: MarketColumns;
  readonly #ordinals: Int32Array;
  readonly #keys: Float64Array;
  /** `null` without a search. */
  readonly #ranks: Uint16Array | null;

  constructor(columns: MarketColumns, selection: MarketSelection) {
    this.#columns = columns;
    const scores = selection.words === null ? null : scoresOf(columns, selection.words);
    const ordinals = selectOrdinals(columns, selection, scores);
    const keys: ArrayLike<number> = keysOf(columns, selection.sort);
    this.#ordinals = ordinals;
    this.#keys = new Float64Array(ordinals.length);
    this.#ranks = scores === null ? null : new Uint16Array(ordinals.length);
    for (let at = 0; at < ordinals.length; at += 1) {
      const ordinal = ordinals[at] ?? 0;
      this.#keys[at] = keys[ordinal] ?? 0;
      if (this.#ranks !== null) this.#ranks[at] = scores?.[ordinal] ?? 0;
    }
  }

  get length(): number {
    return this.#ordinals.length;
  }

  /** What keeping it costs. */
  get byteLength(): number {
    return this.#ordinals.byteLength + this.#keys.byteLength + (this.#ranks?.byteLength ?? 0);
  }

  /** The next places in order, up to `limit`, behind another that need not be in the list. */
  page(edge: MarketPlace | null, { order, limit }: { order: "asc" | "desc"; limit: number }) {
    const sign = order === "asc" ? 1 : -1;
    const isBehind = edge === null ? null : this.#behind(edge, sign);
    const compare = (one: number, other: number) => this.#compare(one, other, sign);
    const { ids, count: known } = this.#columns;
    const ordinals = this.#ordinals;
    const keys = this.#keys;
    const ranks = this.#ranks;
    const best: number[] = [];
    // What the last of the best has; nearly all others are worse by their numbers alone.
    let [worstRank, worstKey, worstOrdinal] = [-1, Infinity, -1];
    for (let step = 0; step < keys.length; step += 1) {
      // Young markets come last and have the largest numbers: the best are met first.
      const at = sign === 1 ? step : keys.length - 1 - step;
      const rank = ranks === null ? 0 : (ranks[at] ?? 0);
      if (rank < worstRank) continue;
      const key = sign * (keys[at] ?? 0);
      if (rank === worstRank) {
        if (key > worstKey) continue;
        const isEqual = key === worstKey;
        if (isEqual && compareIds(ids, ordinals[at] ?? 0, worstOrdinal) >= 0) continue;
      }
      if (isBehind !== null && !isBehind(at)) continue;
      // What a fork has taken back since is no market any more.
      if (this.#ordinalAt(at) >= known) continue;
      insert(best, at, compare);
      if (best.length > limit) best.pop();
      if (best.length < limit) continue;
      const worst = best[limit - 1] ?? -1;
      worstOrdinal = this.#ordinalAt(worst);
      worstRank = this.#rankAt(worst);
      worstKey = sign * this.#keyAt(worst);
    }
    return best.map((at) => this.#placeAt(at));
  }

  /** Tells which items stand behind a place. */
  #behind(edge: MarketPlace, sign: number): (at: number) => boolean {
    const { ids } = this.#columns;
    const edgeId = Buffer.from(edge.conditionId.slice(2), "hex");
    const edgeKey = sign * edge.key;
    return (at) => {
      const rank = this.#rankAt(at);
      if (rank !== edge.rank) return rank < edge.rank;
      const key = sign * this.#keyAt(at);
      if (key !== edgeKey) return key > edgeKey;
      const start = this.#ordinalAt(at) * idBytes;
      return Buffer.compare(ids.subarray(start, start + idBytes), edgeId) > 0;
    };
  }

  #compare(one: number, other: number, sign: number): number {
    const rank = this.#rankAt(other) - this.#rankAt(one);
    if (rank !== 0) return rank;
    const key = sign * (this.#keyAt(one) - this.#keyAt(other));
    if (key !== 0) return key;
    return compareIds(this.#columns.ids, this.#ordinalAt(one), this.#ordinalAt(other));
  }

  #placeAt(at: number): MarketPlace {
    const conditionId = this.#columns.conditionIdAt(this.#ordinalAt(at));
    return { rank: this.#rankAt(at), key: this.#keyAt(at), conditionId };
  }

  #ordinalAt(at: number): number {
    return this.#ordinals[at] ?? 0;
  }

  #keyAt(at: number): number {
    return this.#keys[at] ?? 0;
  }

  #rankAt(at: number): number {
    return this.#ranks?.[at] ?? 0;
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

function keysOf(columns: MarketColumns, sort: MarketSort): ArrayLike<number> {
  switch (sort) {
    case "volume_24h":
      return columns.dayVolumeUsd.values;
    case "volume":
      return columns.volumeUsd.values;
    case "trades_24h":
      return columns.dayTrades.values;
    case "created_at":
      return columns.createdAt.values;
    case "last_trade_at":
      return columns.lastTradeAt.values;
    case "end_date":
      return columns.endMs.values;
  }
}

/** The ordinals of the markets that are asked for; those with a score, where there are scores. */
function selectOrdinals(
  columns: MarketColumns,
  selection: MarketSelection,
  scores: Uint16Array | null,
): Int32Array {
  const marks = Object.entries(selection.labels).map(([kind, values]) =>
    labelledWith(columns, kind as LabelKind, values),
  );
  if (scores !== null) marks.push(scores);
  const isMarked = (ordinal: number): boolean => marks.every((mark) => mark[ordinal] !== 0);
  if (selection.ordinals !== null) {
    const isWanted = wantedBy(columns, selection, 0);
    return Int32Array.from(
      [...new Set(selection.ordinals)].filter((one) => isWanted(one) && isMarked(one)),
    );
  }
  const isWanted = wantedBy(columns, selection, marketFlags.listed);
  const [first, ...others] = marks;
  const found = new Int32Array(columns.count);
  let length = 0;
  for (let ordinal = 0; ordinal < found.length; ordinal += 1) {
    // What is marked is nearly always little of everything.
    if (first !== undefined && first[ordinal] === 0) continue;
    if (!isWanted(ordinal) || (others.length > 0 && !isMarked(ordinal))) continue;
    found[length] = ordinal;
    length += 1;
  }
  return found.slice(0, length);
}

/** Tells which markets have the numbers asked for, and the flags, those in `also` among them. */
function wantedBy(
  columns: MarketColumns,
  selection: MarketSelection,
  also: number,
): (ordinal: number) => boolean {
  const { minVolume, minDayVolume, ends } = selection;
  const asked = selection.flags.asked | also;
  const wanted = selection.flags.wanted | also;
  const createdFrom = selection.createdFrom / 1000;
  const createdBefore = selection.createdBefore / 1000;
  const flags = columns.flags.values;
  const volume = columns.volumeUsd.values;
  const dayVolume = columns.dayVolumeUsd.values;
  const createdAt = columns.createdAt.values;
  const endMs = columns.endMs.values;
  const isAnyAge = createdFrom <= 0 && createdBefore === Infinity;
  const hasBounds = minVolume > 0 || minDayVolume > 0 || !isAnyAge || ends !== null;
  return (ordinal) => {
    if (((flags[ordinal] ?? 0) & asked) !== wanted) return false;
    if (!hasBounds) return true;
    if (minVolume > 0 && (volume[ordinal] ?? 0) < minVolume) return false;
    if (minDayVolume > 0 && (dayVolume[ordinal] ?? 0) < minDayVolume) return false;
    const created = createdAt[ordinal] ?? 0;
    if (created < createdFrom || created >= createdBefore) return false;
    if (ends === null) return true;
    const end = endMs[ordinal] ?? 0;
    return end !== 0 && end >= ends.from && end < ends.before;
  };
}

function labelledWith(
  columns: MarketColumns,
  kind: LabelKind,
  values: readonly string[],
): Uint16Array {
  const marks = new Uint16Array(columns.count);
  for (const value of values) {
    columns.labels.scoreTerm(labelOf(kind, value) ?? "", new Uint16Array([0, 1]), marks);
  }
  return marks;
}

/** How well each market answers all words together; 0 where one of them is nowhere. */
function scoresOf(columns: MarketColumns, words: readonly string[]): Uint16Array {
  const [first = "", ...others] = new Set(words);
  const sums = scoresOfWord(columns, first);
  for (const word of others) {
    const scores = scoresOfWord(columns, word);
    for (let ordinal = 0; ordinal < sums.length; ordinal += 1) {
      const sum = sums[ordinal] ?? 0;
      const score = scores[ordinal] ?? 0;
      sums[ordinal] = sum === 0 || score === 0 ? 0 : sum + score;
    }
  }
  return sums;
}

function scoresOfWord({ titles, descriptions, count }: MarketColumns, word: string): Uint16Array {
  const scores = new Uint16Array(count);
  if (word === "") return scores;
  const bytes = Buffer.byteLength(word);
  titles.scoreWord(word, bytes < titleWithinBytesMin ? titleStarts : titleWeights, scores);
  if (bytes < descriptionStartBytesMin) {
    descriptions.scoreTerm(word, descriptionWeights.whole, scores);
  } else {
    descriptions.scoreWord(word, descriptionWeights, scores);
  }
  return scores;
}

/** The score for each combination of fields: that of the best field in it. */
function weightsOf(worths: readonly number[]) {
  const times = (factor: number): Uint16Array =>
    Uint16Array.from({ length: 1 << worths.length }, (_, bits) =>
      Math.max(0, ...worths.map((worth, field) => (bits & (1 << field) ? worth * factor : 0))),
    );
  return { whole: times(3), start: times(2), within: times(1) };
}
