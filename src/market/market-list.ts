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
    this.#keys = Float64Array.from(ordinals, (ordinal) => keys[ordinal] ?? 0);
    this.#ranks =
      scores === null ? null : Uint16Array.from(ordinals, (ordinal) => scores[ordinal] ?? 0);
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
    const ids = this.#columns.ids;
    const edgeId = edge === null ? null : Buffer.from(edge.conditionId.slice(2), "hex");
    const known = this.#columns.count;
    const best: number[] = [];
    for (let at = 0; at < this.#ordinals.length; at += 1) {
      const worst = best.length < limit ? undefined : best[limit - 1];
      if (worst !== undefined && this.#compare(at, worst, sign) >= 0) continue;
      if (edge !== null && edgeId !== null) {
        const [rank, key] = [edge.rank - this.#rankAt(at), sign * (this.#keyAt(at) - edge.key)];
        const start = this.#ordinalAt(at) * idBytes;
        const id = () => Buffer.compare(ids.subarray(start, start + idBytes), edgeId);
        if ((rank || key || id()) <= 0) continue;
      }
      // What a fork has taken back since is no market any more.
      if (this.#ordinalAt(at) >= known) continue;
      insert(best, at, (one, other) => this.#compare(one, other, sign));
      if (best.length > limit) best.pop();
    }
    return best.map((at) => this.#placeAt(at));
  }

  #compare(one: number, other: number, sign: number): number {
    const rank = this.#rankAt(other) - this.#rankAt(one);
    if (rank !== 0) return rank;
    const key = sign * (this.#keyAt(one) - this.#keyAt(other));
    if (key !== 0) return key;
    const { ids } = this.#columns;
    return compareIds(ids, this.#ordinalAt(one), this.#ordinalAt(other));
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
  const isWanted = wantedBy(columns, selection);
  const labelled = Object.entries(selection.labels).map(([kind, values]) =>
    labelledWith(columns, kind as LabelKind, values),
  );
  const isFound = (ordinal: number): boolean =>
    (scores === null || scores[ordinal] !== 0) &&
    isWanted(ordinal) &&
    labelled.every((marks) => marks[ordinal] !== 0);
  if (selection.ordinals !== null) {
    return Int32Array.from([...new Set(selection.ordinals)].filter(isFound));
  }
  const flags = columns.flags.values;
  const found = new Int32Array(columns.count);
  let length = 0;
  for (let ordinal = 0; ordinal < found.length; ordinal += 1) {
    if (((flags[ordinal] ?? 0) & marketFlags.listed) === 0 || !isFound(ordinal)) continue;
    found[length] = ordinal;
    length += 1;
  }
  return found.slice(0, length);
}

function wantedBy(
  columns: MarketColumns,
  selection: MarketSelection,
): (ordinal: number) => boolean {
  const { minVolume, minDayVolume, ends } = selection;
  const { asked, wanted } = selection.flags;
  const [createdFrom, createdBefore] = [
    selection.createdFrom / 1000,
    selection.createdBefore / 1000,
  ];
  const flags = columns.flags.values;
  const volume = columns.volumeUsd.values;
  const dayVolume = columns.dayVolumeUsd.values;
  const createdAt = columns.createdAt.values;
  const endMs = columns.endMs.values;
  return (ordinal) => {
    const [created = 0, end = 0] = [createdAt[ordinal], endMs[ordinal]];
    return (
      ((flags[ordinal] ?? 0) & asked) === wanted &&
      (volume[ordinal] ?? 0) >= minVolume &&
      (dayVolume[ordinal] ?? 0) >= minDayVolume &&
      created >= createdFrom &&
      created < createdBefore &&
      (ends === null || (end !== 0 && end >= ends.from && end < ends.before))
    );
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
      const [sum = 0, score = 0] = [sums[ordinal], scores[ordinal]];
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
