/** Which markets a list has: what they are asked for by, and how well they answer. */

import { type Chunk, inChunks } from "../disk/chunked-loop.ts";
import type { Column } from "../disk/column.ts";
import type { Hits } from "../search/search-hits.ts";
import { type LabelKind, labelOf, type MarketColumns, marketFlags } from "./market-columns.ts";

/** What a list can be ordered by. */
export type MarketSort =
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

/** Asks for nothing in particular. */
export const anyMarket: MarketSelection = {
  words: null,
  ordinals: null,
  flags: { asked: 0, wanted: 0 },
  labels: {},
  minVolume: 0,
  minDayVolume: 0,
  createdFrom: 0,
  createdBefore: Infinity,
  ends: null,
  sort: "volume_24h",
};

/** Which markets a list has: those with a rank. By ordinal where `ordinals` is `null`. */
export type Members = {
  readonly ordinals: Int32Array | null;
  readonly ranks: Uint16Array;
  readonly length: number;
  /** No rank is higher. */
  readonly top: number;
};
type Candidates = Pick<Members, "ordinals" | "ranks">;

/** Flags that are asked for, and what they have to be. */
type Flags = MarketSelection["flags"];

/** Numbers by ordinal, of which those are wanted from one on and below another. */
type Bound = {
  readonly values: ArrayLike<number>;
  readonly from: number;
  readonly before: number;
};

/**
 * The markets that are asked for; without a search all with the same rank. Ranks by ordinal stand in
 * a block of `columns.rooms`, the others only until something else is looked for.
 */
export function membersOf(columns: MarketColumns, selection: MarketSelection): Members {
  const { ordinals, ranks, top, length: candidates } = candidatesOf(columns, selection);
  let length = candidates;
  for (const [kind, values] of Object.entries(selection.labels)) {
    length = keepLabelled({ ordinals, ranks }, columns, { kind: kind as LabelKind, values });
  }
  for (const bound of boundsOf(columns, selection)) length = keepWithin({ ordinals, ranks }, bound);
  return { ordinals, ranks, top, length };
}

/** The markets that have the flags and the words, of all or of those that are named. */
function candidatesOf(columns: MarketColumns, selection: MarketSelection): Members {
  const { words, ordinals: named, flags: asked } = selection;
  const { count } = columns;
  const hits = words === null ? null : columns.search.find(words, count);
  if (named !== null) {
    const ordinals = Int32Array.from(new Set(named));
    const ranks = Uint16Array.from(ordinals, (one) => (hits === null ? 1 : scoreIn(hits, one)));
    return withFlags(columns, { ordinals, ranks }, asked);
  }
  const { listed } = marketFlags;
  const flags = { asked: asked.asked | listed, wanted: asked.wanted | listed };
  if (hits?.kind === "few") {
    return withFlags(columns, { ordinals: hits.ordinals, ranks: hits.scores }, flags);
  }
  const ranks = new Uint16Array(columns.rooms.take(count * 2), 0, count);
  const length = rankAll(columns, { ranks, hits }, flags);
  return { ordinals: null, ranks, length, top: hits === null ? 1 : hits.top };
}

function scoreIn(hits: Hits, ordinal: number): number {
  if (hits.kind === "few") return hits.scores[hits.ordinals.indexOf(ordinal)] ?? 0;
  const scores = hits.words.map((word) => word[ordinal] ?? 0);
  return scores.includes(0) ? 0 : scores.reduce((sum, score) => sum + score, 0);
}

/** Takes the rank from what has not the flags. */
function withFlags(
  { flags: { values } }: MarketColumns,
  { ordinals, ranks }: { ordinals: Int32Array; ranks: Uint16Array },
  flags: Flags,
): Members {
  const members = { ordinals, ranks, values };
  const length = inChunks(ranks.length, (step) => keepFlagged(members, flags, step));
  return { ordinals, ranks, length, top: Infinity };
}

/** The same for some of them; how many keep theirs. */
function keepFlagged(
  { ordinals, ranks, values }: { ordinals: Int32Array; ranks: Uint16Array; values: Uint8Array },
  { asked, wanted }: Flags,
  { from, to }: Chunk,
): number {
  let length = 0;
  for (let at = from; at < to; at += 1) {
    if (ranks[at] === 0) continue;
    if (((values[ordinals[at] ?? 0] ?? 0) & asked) === wanted) length += 1;
    else ranks[at] = 0;
  }
  return length;
}

/** How well each market answers all words together, 1 without any; 0 where a word or a flag is missing. */
function rankAll(
  { flags }: MarketColumns,
  { ranks, hits }: { ranks: Uint16Array; hits: Extract<Hits, { kind: "many" }> | null },
  { asked, wanted }: Flags,
): number {
  const { length } = ranks;
  const each = { ranks, flags: flags.values };
  if (hits === null) {
    return inChunks(length, (step) => rankFlagged(each, { asked, wanted }, step));
  }
  const [scores, ...others] = hits.words;
  if (scores !== undefined && others.length === 0) {
    const scored = { ...each, scores };
    return inChunks(length, (step) => rankScored(scored, { asked, wanted }, step));
  }
  const fours = Math.ceil(length / 4);
  const foursOf = (bytes: Uint8Array) => new Int32Array(bytes.buffer, 0, fours);
  const pairs = new Int32Array(ranks.buffer, 0, fours * 2);
  const all = { pairs, words: hits.words.map(foursOf), flags: foursOf(flags.values) };
  const ofFour = { asked: Math.imul(asked, eachByte), wanted: Math.imul(wanted, eachByte) };
  return inChunks(fours, (step) => rankFours(all, ofFour, step));
}

/** The same without words, without a branch for what has not the flags, which no processor could guess. */
function rankFlagged(
  { ranks, flags }: { ranks: Uint16Array; flags: Uint8Array },
  { asked, wanted }: Flags,
  { from, to }: Chunk,
): number {
  let length = 0;
  for (let at = from; at < to; at += 1) {
    const rank = Number(((flags[at] ?? 0) & asked) === wanted);
    ranks[at] = rank;
    length += rank;
  }
  return length;
}

/** The same for one word. */
function rankScored(
  { ranks, flags, scores }: { ranks: Uint16Array; flags: Uint8Array; scores: Uint8Array },
  { asked, wanted }: Flags,
  { from, to }: Chunk,
): number {
  let length = 0;
  for (let at = from; at < to; at += 1) {
    const isWanted = Number(((flags[at] ?? 0) & asked) === wanted);
    const rank = Math.imul(scores[at] ?? 0, isWanted);
    ranks[at] = rank;
    // 1 for each that is above 0.
    length += -rank >>> 31;
  }
  return length;
}

const eachByte = 0x01010101;
const lowBits = 0x7f7f7f7f;
const lowHalf = 0xffff;
const highHalf = 0xffff0000 | 0;

/** Flags and scores of four markets each, a byte a market, the first in the lowest, and pairs of ranks. */
type Fours = {
  readonly pairs: Int32Array;
  readonly words: readonly Int32Array[];
  readonly flags: Int32Array;
};

/**
 * The same for four markets at a time, as pairs of ranks; how many have one. That is two or three times
 * as fast as one by one, without a branch for what is missing, which no processor could guess.
 */
function rankFours(
  { pairs, words, flags }: Fours,
  { asked, wanted }: Flags,
  { from, to }: Chunk,
): number {
  let length = 4 * (to - from);
  for (let at = from; at < to; at = (at + 1) | 0) {
    const unlike = ((flags[at] ?? 0) & asked) ^ wanted;
    // The highest bit of each byte says whether it is not 0, and then whether it is: scores are above 1.
    let missing = ((unlike & lowBits) + lowBits) | unlike;
    let low = 0;
    let high = 0;
    for (let word = 0; word < words.length; word = (word + 1) | 0) {
      const scores = (words[word] ?? flags)[at] ?? 0;
      missing |= (scores - eachByte) & ~scores;
      low = (low + ((scores & 255) | ((scores & 0xff00) << 8))) | 0;
      high = (high + (((scores >>> 16) & 255) | ((scores >>> 24) << 16))) | 0;
    }
    // From here on a bit for each market.
    missing = (missing >>> 7) & eachByte;
    low &= ~(Math.imul(missing & 1, lowHalf) | Math.imul((missing >>> 8) & 1, highHalf));
    high &= ~(Math.imul((missing >>> 16) & 1, lowHalf) | Math.imul(missing >>> 24, highHalf));
    length -= Math.imul(missing, eachByte) >>> 24;
    pairs[2 * at] = low;
    pairs[2 * at + 1] = high;
  }
  return length;
}

/** Bounds of the numbers of a market. */
function boundsOf(
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
  // 0 is no end, and not one of 1970.
  if (ends !== null) add(columns.endMs, Math.max(ends.from, 1), ends.before);
  return bounds;
}

/** Takes the rank from what has no number within the bound; how many keep theirs. */
function keepWithin({ ordinals, ranks }: Candidates, bound: Bound): number {
  return inChunks(ranks.length, (step) =>
    ordinals === null
      ? keepAllWithin(ranks, bound, step)
      : keepFewWithin({ ordinals, ranks }, bound, step),
  );
}

function keepFewWithin(
  { ordinals, ranks }: { ordinals: Int32Array; ranks: Uint16Array },
  { values, from, before }: Bound,
  step: Chunk,
): number {
  let length = 0;
  for (let at = step.from; at < step.to; at += 1) {
    if (ranks[at] === 0) continue;
    const value = values[ordinals[at] ?? 0] ?? 0;
    if (value >= from && value < before) length += 1;
    else ranks[at] = 0;
  }
  return length;
}

/** The same by ordinal, where a branch for what is not within would cost several times as much. */
function keepAllWithin(ranks: Uint16Array, { values, from, before }: Bound, step: Chunk): number {
  let length = 0;
  for (let at = step.from; at < step.to; at += 1) {
    const value = values[at] ?? 0;
    const isWithin = Number(value >= from) & Number(value < before);
    const rank = Math.imul(ranks[at] ?? 0, isWithin);
    ranks[at] = rank;
    // 1 for each that is above 0.
    length += -rank >>> 31;
  }
  return length;
}

/** Takes the rank from what has none of the labels; how many keep theirs. */
function keepLabelled(
  candidates: Candidates,
  { labels, rooms, count }: MarketColumns,
  { kind, values }: { kind: LabelKind; values: readonly string[] },
): number {
  const block = rooms.take(count);
  const marks = new Uint8Array(block, 0, count).fill(0);
  for (const value of values) {
    labels.scoreTerm(labelOf(kind, value) ?? "", new Uint8Array([0, 1]), marks);
  }
  const length = keepWithin(candidates, { values: marks, from: 1, before: Infinity });
  rooms.give(block);
  return length;
}
