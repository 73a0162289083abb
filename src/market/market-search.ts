/**
 * The search of markets by words, all of which have to be found. The rarest word is looked for first,
 * and the others then only in the markets that have it. What costs is searches for nothing but words
 * that many markets have: which have them is remembered, and kept right as texts come.
 */
import { marketLimits } from "../base/limits.ts";
import type { Depot } from "./depot.ts";
import type { Journal } from "./journal.ts";
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

/** What was found, as long as nothing else is looked for. */
export type Hits =
  /** Markets in rising order and how well each answers, for whoever asked to change. */
  | { readonly kind: "few"; readonly ordinals: Int32Array; readonly scores: Uint16Array }
  /** Scores by ordinal for each of the words; what has all of them was found. */
  | { readonly kind: "many"; readonly words: readonly Uint8Array[] };

type Found = Extract<Hits, { readonly kind: "few" }>;

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
/** When so many times more markets may have a word than were found, it is looked up in those. */
const fewShare = 8;
/** Postings of a long list that are passed over at once, about. */
const passedOver = 4096;

const noHits: Hits = { kind: "few", ordinals: new Int32Array(0), scores: new Uint16Array(0) };
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
  /** What is found is put here. */
  #ordinals = new Int32Array(0);
  #scores = new Uint16Array(0);
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
    if (rarest === undefined) return noHits;
    if (rarest.postings * denseShare >= Math.max(count, commonMin)) {
      return { kind: "many", words: asked.map((one) => this.#scoresOf(one, count)) };
    }
    let hits = this.#hitsOf(rarest, count);
    for (const other of others) hits = this.#within(hits, other, count);
    return hits;
  }

  /** Words of the first texts, among which common ones are; those that fewest markets have come first. */
  usualWords(count: number): string[] {
    const postings = new Map<string, number>();
    for (const texts of [this.#titles, this.#descriptions]) {
      for (const { term, postings: own } of texts.firstTerms(count)) {
        postings.set(term, (postings.get(term) ?? 0) + own);
      }
    }
    return [...postings].toSorted(([, a], [, b]) => a - b).map(([term]) => term);
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

  /** The scores of all markets for a word, which is remembered from now on. */
  #scoresOf(asked: Asked | Remembered, count: number): Uint8Array {
    return "scores" in asked ? asked.scores : this.#remember(asked, count).scores;
  }

  #hitsOf(rarest: Asked | Remembered, count: number): Found {
    if ("scores" in rarest || isCommon(rarest, count)) {
      return this.#gather(this.#scoresOf(rarest, count), count);
    }
    this.#score(rarest, this.#scratch);
    const hits = this.#gather(this.#scratch, count);
    this.#scratch.fill(0, 0, count);
    return hits;
  }

  /** What was found and has another word, whatever way of looking for it is the shortest. */
  #within(hits: Found, other: Asked | Remembered, count: number): Found {
    if ("scores" in other) return intersect(hits, other.scores);
    const found = hits.ordinals.length;
    if (isCommon(other, count)) {
      // Looking for so many in a long list reads all of it, which is then done once.
      const isRead = found * passedOver >= other.postings;
      if (isRead) return intersect(hits, this.#scoresOf(other, count));
    } else if (found * fewShare >= other.postings) {
      this.#score(other, this.#scratch);
      const both = intersect(hits, this.#scratch);
      this.#scratch.fill(0, 0, count);
      return both;
    }
    const scores = this.#scratch.subarray(0, found);
    const among = { things: hits.ordinals, scores };
    this.#titles.scoreTermsAmong(other.titles, titleWeights, among);
    this.#descriptions.scoreTermsAmong(other.descriptions, descriptionWeights, among);
    const both = keepScored(hits, scores);
    scores.fill(0);
    return both;
  }

  /** The markets that have a score. */
  #gather(all: Uint8Array, count: number): Found {
    const fours = new Uint32Array(all.buffer, 0, Math.ceil(count / 4));
    const room = 4 * countFilled(fours);
    if (this.#ordinals.length < room) {
      this.#ordinals = new Int32Array(room * 2);
      this.#scores = new Uint16Array(room * 2);
    }
    const found = { ordinals: this.#ordinals, scores: this.#scores };
    return cut(found, gather(fours, found.ordinals, found.scores));
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

/** How many of all scores, four at a time as most are 0, have one that is not. */
function countFilled(fours: Uint32Array): number {
  let filled = 0;
  for (let four = 0; four < fours.length; four += 1) if (fours[four] !== 0) filled += 1;
  return filled;
}

/** Writes down what has a score; how much that is. The first of four is in the lowest byte. */
function gather(fours: Uint32Array, ordinals: Int32Array, scores: Uint16Array): number {
  let length = 0;
  for (let four = 0; four < fours.length; four += 1) {
    let rest = fours[four] ?? 0;
    for (let ordinal = four * 4; rest !== 0; ordinal += 1) {
      const score = rest & 255;
      rest >>>= 8;
      if (score === 0) continue;
      ordinals[length] = ordinal;
      scores[length] = score;
      length += 1;
    }
  }
  return length;
}

/** What was found and has a further score, by ordinal; in the place of what was found. */
function intersect({ ordinals, scores }: Found, more: Uint8Array): Found {
  let length = 0;
  for (let at = 0; at < ordinals.length; at += 1) {
    const ordinal = ordinals[at] ?? 0;
    const score = more[ordinal] ?? 0;
    if (score === 0) continue;
    ordinals[length] = ordinal;
    scores[length] = (scores[at] ?? 0) + score;
    length += 1;
  }
  return cut({ ordinals, scores }, length);
}

/** The same with scores in the order of what was found. */
function keepScored({ ordinals, scores }: Found, more: Uint8Array): Found {
  let length = 0;
  for (let at = 0; at < ordinals.length; at += 1) {
    const score = more[at] ?? 0;
    if (score === 0) continue;
    ordinals[length] = ordinals[at] ?? 0;
    scores[length] = (scores[at] ?? 0) + score;
    length += 1;
  }
  return cut({ ordinals, scores }, length);
}

function cut({ ordinals, scores }: Omit<Found, "kind">, length: number): Found {
  return {
    kind: "few",
    ordinals: ordinals.subarray(0, length),
    scores: scores.subarray(0, length),
  };
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
