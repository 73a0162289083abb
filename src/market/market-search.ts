/**
 * The search of markets by words, all of which have to be found. The rarest word is looked for first,
 * and the others then only in the markets that have it. What costs is searches for nothing but words
 * that many markets have: which have them is remembered, and kept right as texts come.
 */
import { marketLimits } from "../base/limits.ts";
import type { Depot } from "./depot.ts";
import type { Journal } from "./journal.ts";
import { RankRoom } from "./rank-room.ts";
import { wordsOf } from "./search-words.ts";
import type { MatchWay } from "./term-book.ts";
import { type FoundTerms, TextSearch, type Weights } from "./text-search.ts";

/** What a market can be found by; text of whatever origin. */
export type MarketTexts = {
  readonly question: string | null;
  readonly description: string | null;
  readonly outcomes: readonly (string | null)[];
  readonly slug: string | null;
  readonly category: string | null;
  readonly tags: readonly string[];
  readonly eventId: string | null;
};

/** What was found: a score for each of `ordinals`, which rise; by ordinal, where that is `null`. */
export type Hits = { readonly ordinals: Int32Array | null; readonly scores: Uint16Array };

type Found = { readonly ordinals: Int32Array; readonly scores: Uint16Array };

/**
 * What a field is worth, times 3 for the whole word, 2 for the start of one and 1 within one: scores
 * of a word fit into a byte.
 */
const worths = [50, 16, 15] as const;
const descriptionWorth = 5;
const wayWorth = { whole: 3, start: 2, within: 1 } as const;
/**
 * What is found where is bounded by what it costs, and by what it is worth: half of all titles have
 * some given two letters within a word, and nearly all descriptions.
 */
const titleWithinBytesMin = 3;
const descriptionStartBytesMin = 3;
/** A word is common when finding its markets costs as much as a walk over a part of all. */
const commonShare = 16;
const commonMin = 4096;
/** Up to this part of all markets those that have a word are listed, for further ones to be looked up in. */
const denseShare = 4;
/** Postings of a long list that are passed over at once, about. */
const passedOver = 4096;

const titleWeights = weightsOf(worths);
const descriptionWeights = weightsOf([descriptionWorth]);

/** Where a word stands that is looked for. */
type Asked = {
  readonly word: string;
  readonly titles: FoundTerms;
  readonly descriptions: FoundTerms;
  readonly postings: number;
};

/** What is remembered of a word: scores by ordinal, and in how many documents it was, about. */
type Remembered = { readonly scores: Uint8Array; readonly postings: number };

/** The words of a market, by field. */
type Words = { readonly titles: readonly (readonly string[])[]; readonly description: string[] };

export class MarketSearch {
  /** Where the scores of what most markets have are put, for whoever is done with them to give back. */
  readonly room = new RankRoom(marketLimits.rankRoomsMax);
  readonly #journal: Journal;
  /** Fields: the question; slug, category and tags; the outcomes. */
  readonly #titles: TextSearch;
  readonly #descriptions: TextSearch;
  /** Common words, those asked for last at the end. */
  readonly #common = new Map<string, Remembered>();
  /** Room of words that were forgotten, to be used again: making it costs as much as looking. */
  readonly #spare: Uint8Array[] = [];
  /** Scores of the word being looked for, all 0 in between. */
  #scratch = new Uint8Array(0);
  #unsearched = 0;
  /** Changes taken back and not made again: what is remembered is of a state that is gone. */
  #undone = 0;

  constructor(depot: Depot, journal: Journal) {
    this.#journal = journal;
    this.#titles = new TextSearch({ depot, journal }, "titles", worths.length);
    this.#descriptions = new TextSearch({ depot, journal }, "descriptions", 1);
  }

  /** Sets all words of a market, in place of those it had. */
  put(ordinal: number, texts: MarketTexts): void {
    const { question, description, slug, category, tags } = texts;
    const names = [slug, category, ...tags].flatMap((name) => wordsOf(name ?? ""));
    const outcomes = texts.outcomes.flatMap((outcome) => wordsOf(outcome ?? ""));
    const titles = [wordsOf(question ?? ""), names, outcomes];
    const words = { titles, description: wordsOf(description ?? "") };
    this.#titles.put(ordinal, words.titles);
    this.#descriptions.put(ordinal, [words.description]);
    this.#follow(ordinal, words);
  }

  /** Makes a market one without words. */
  remove(ordinal: number): void {
    this.#titles.remove(ordinal);
    this.#descriptions.remove(ordinal);
    this.#follow(ordinal, { titles: [], description: [] });
  }

  /** The markets below `count` that have all of the words, and how well they answer them. */
  find(words: readonly string[], count: number): Hits {
    if (this.#undone !== 0) this.#forget();
    this.#unsearched = 0;
    if (this.#scratch.length < count) this.#scratch = new Uint8Array(roomFor(count));
    const asked = [...new Set(words)]
      .slice(0, marketLimits.searchWordsMax)
      .map((word) => this.#recall(word) ?? this.#ask(word))
      .toSorted((a, b) => a.postings - b.postings);
    const [rarest, ...others] = asked;
    if (rarest === undefined || rarest.postings * denseShare >= Math.max(count, commonMin)) {
      const all = asked.map((one) => ("scores" in one ? one : this.#remember(one, count)));
      return { ordinals: null, scores: sumInto(this.room.take(count), all) };
    }
    let hits = this.#hitsOf(rarest, count);
    for (const other of others) {
      // Looking for so many in a long list reads all of it, which is then done once.
      const isRead = isCommon(other, count) && hits.ordinals.length * passedOver >= other.postings;
      if ("scores" in other) hits = intersect(hits, other.scores);
      else if (isRead) hits = intersect(hits, this.#remember(other, count).scores);
      else hits = this.#within(hits, other);
    }
    return hits;
  }

  #ask(word: string): Asked {
    const titles = this.#titles.findTerms(word, reachIn(word).titles);
    const descriptions = this.#descriptions.findTerms(word, reachIn(word).descriptions);
    return { word, titles, descriptions, postings: titles.postings + descriptions.postings };
  }

  #score({ titles, descriptions }: Asked, scores: Uint8Array): void {
    this.#titles.scoreTerms(titles, titleWeights, scores);
    this.#descriptions.scoreTerms(descriptions, descriptionWeights, scores);
  }

  #hitsOf(rarest: Asked | Remembered, count: number): Found {
    if ("scores" in rarest) return hitsIn(rarest.scores, count);
    if (isCommon(rarest, count)) return hitsIn(this.#remember(rarest, count).scores, count);
    this.#score(rarest, this.#scratch);
    const hits = hitsIn(this.#scratch, count);
    this.#scratch.fill(0, 0, count);
    return hits;
  }

  #within(hits: Found, { titles, descriptions }: Asked): Found {
    const things = hits.ordinals;
    const scores = new Uint8Array(things.length);
    this.#titles.scoreTermsAmong(titles, titleWeights, { things, scores });
    this.#descriptions.scoreTermsAmong(descriptions, descriptionWeights, { things, scores });
    return both(hits, (at) => scores[at] ?? 0);
  }

  #recall(word: string): Remembered | null {
    const known = this.#common.get(word);
    if (known === undefined) return null;
    this.#common.delete(word);
    this.#common.set(word, known);
    return known;
  }

  #remember(asked: Asked, count: number): Remembered {
    const scores = this.#makeRoom(count);
    this.#score(asked, scores);
    const remembered = { scores, postings: asked.postings };
    this.#common.set(asked.word, remembered);
    return remembered;
  }

  /**
   * Scores of nothing, for one more word: in the place of the one not asked for longest, which is none
   * of the search at hand, as more words are remembered than a search has.
   */
  #makeRoom(count: number): Uint8Array {
    if (this.#common.size >= marketLimits.commonWordsMax) {
      for (const [oldest] of this.#common) {
        this.#drop(oldest);
        break;
      }
    }
    const spare = this.#spare.pop();
    if (spare === undefined || spare.length < count) return new Uint8Array(roomFor(count));
    return spare.fill(0);
  }

  #drop(word: string): void {
    const known = this.#common.get(word);
    this.#common.delete(word);
    if (known !== undefined) this.#spare.push(known.scores);
  }

  #forget(): void {
    for (const word of this.#common.keys()) this.#drop(word);
    this.#undone = 0;
  }

  /** Brings what is remembered up to date with the words of a market. */
  #follow(ordinal: number, words: Words): void {
    this.#journal.note({
      undo: () => {
        this.#undone += 1;
      },
      redo: () => {
        this.#undone -= 1;
      },
    });
    if (this.#common.size === 0) return;
    this.#unsearched += 1;
    const isOut = this.#undone !== 0 || this.#unsearched > marketLimits.textsUnsearchedMax;
    if (isOut) return this.#forget();
    for (const [word, { scores }] of this.#common) {
      if (ordinal < scores.length) scores[ordinal] = scoreOf(word, words);
      else this.#drop(word);
    }
  }
}

/** How a word is looked for. */
function reachIn(word: string): { titles: MatchWay; descriptions: MatchWay } {
  const bytes = Buffer.byteLength(word);
  return {
    titles: bytes < titleWithinBytesMin ? "start" : "within",
    descriptions: bytes < descriptionStartBytesMin ? "whole" : "start",
  };
}

/** What `TextSearch` would say of one word and one market. */
function scoreOf(word: string, { titles, description }: Words): number {
  const reach = reachIn(word);
  let best = worthIn(description, word, reach.descriptions) * descriptionWorth;
  for (const [field, terms] of titles.entries()) {
    best = Math.max(best, worthIn(terms, word, reach.titles) * (worths[field] ?? 0));
  }
  return best;
}

function worthIn(terms: readonly string[], word: string, way: MatchWay): number {
  let best = 0;
  for (const term of terms) {
    const found = term === word ? "whole" : term.startsWith(word) ? "start" : "within";
    const worth = wayWorth[found];
    if (worth > best && worth >= wayWorth[way] && term.includes(word)) best = worth;
  }
  return best;
}

function isCommon({ postings }: Asked | Remembered, count: number): boolean {
  return postings * commonShare >= Math.max(count, commonMin);
}

/** The markets that have a score. */
function hitsIn(all: Uint8Array, count: number): Found {
  // Most are 0: four are looked at together.
  const fours = new Uint32Array(all.buffer);
  let room = 0;
  for (let four = 0; four * 4 < count; four += 1) if (fours[four] !== 0) room += 4;
  const [ordinals, scores] = [new Int32Array(room), new Uint16Array(room)];
  let length = 0;
  for (let four = 0; four * 4 < count; four += 1) {
    if (fours[four] === 0) continue;
    for (let ordinal = four * 4; ordinal < Math.min(count, four * 4 + 4); ordinal += 1) {
      const score = all[ordinal] ?? 0;
      if (score === 0) continue;
      ordinals[length] = ordinal;
      scores[length] = score;
      length += 1;
    }
  }
  return { ordinals: ordinals.subarray(0, length), scores: scores.subarray(0, length) };
}

function intersect(hits: Found, more: Uint8Array): Found {
  return both(hits, (at) => more[hits.ordinals[at] ?? 0] ?? 0);
}

/** What was found and has a further score, by its place. */
function both(hits: Found, scoreAt: (at: number) => number): Found {
  const ordinals = new Int32Array(hits.ordinals.length);
  const scores = new Uint16Array(hits.ordinals.length);
  let length = 0;
  for (let at = 0; at < hits.ordinals.length; at += 1) {
    const score = scoreAt(at);
    if (score === 0) continue;
    ordinals[length] = hits.ordinals[at] ?? 0;
    scores[length] = (hits.scores[at] ?? 0) + score;
    length += 1;
  }
  return { ordinals: ordinals.subarray(0, length), scores: scores.subarray(0, length) };
}

/** How well each market answers all words together; 0 where one of them is nowhere. */
function sumInto(sums: Uint16Array, [first, ...others]: readonly Remembered[]): Uint16Array {
  if (first === undefined) return sums.fill(0);
  sums.set(first.scores.subarray(0, sums.length));
  for (const { scores } of others) {
    for (let ordinal = 0; ordinal < sums.length; ordinal += 1) {
      const sum = sums[ordinal] ?? 0;
      const score = scores[ordinal] ?? 0;
      sums[ordinal] = sum === 0 || score === 0 ? 0 : sum + score;
    }
  }
  return sums;
}

/** Room for markets to come, a multiple of four. */
function roomFor(count: number): number {
  return Math.ceil(count * 0.275) * 4 + 1024;
}

/** The score for each combination of fields: that of the best field in it. */
function weightsOf(fields: readonly number[]): Weights {
  const times = (factor: number): Uint8Array =>
    Uint8Array.from({ length: 1 << fields.length }, (_, bits) =>
      Math.max(0, ...fields.map((worth, field) => (bits & (1 << field) ? worth * factor : 0))),
    );
  return { whole: times(wayWorth.whole), start: times(wayWorth.start), within: times(1) };
}
