/**
 * The search of markets by words, all of which have to be found. The rarest word is looked for first,
 * and the others then only in the markets that have it. What costs is searches for nothing but words
 * that many markets have: which have them is remembered, and kept right as texts come.
 */
import { marketLimits } from "../../base/config/limits.ts";
import type { StateStore } from "../disk/state-store.ts";
import type { UndoLog } from "../markets/undo-log.ts";
import { KnownWords, type Remembered, rescore, roomFor } from "./known-words.ts";
import { withoutTypo } from "./one-typo.ts";
import {
  type Found,
  HitRoom,
  type Hits,
  highestOf,
  intersect,
  keepScored,
  noHits,
} from "./search-hits.ts";
import { wordsOf } from "./search-words.ts";
import { type FoundTerms, TextSearch } from "./text-search.ts";
import {
  descriptionWeights,
  mostWorth,
  reachIn,
  type SearchedWords,
  scoreOf,
  titleFields,
  titleWeights,
} from "./word-worth.ts";

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

/**
 * A word is common when finding its markets costs as much as a walk over a part of all. Markets that have
 * a rarer one are listed, for further words to be looked up in.
 */
const commonShare = 16;
const commonMin = 4096;
/** Of fewer than this part of all markets it is faster to write them down than to look at all again. */
const gatheredShare = 8;
/** Postings of a long list that are passed over at the same time, about. */
const passedOver = 4096;
/** Writing down the score of each posting, and what follows from that, against looking through the list. */
const scoredCost = 2;

/** Where a word stands that is looked for. */
type Asked = {
  readonly word: string;
  readonly titles: FoundTerms;
  readonly descriptions: FoundTerms;
  /** In how many documents it stands, about. */
  readonly postings: number;
};

/** A common word whose lists are being read; `steps` are done when all are read. */
type Learning = {
  readonly word: string;
  readonly known: Remembered;
  readonly steps: Iterator<void, void>;
};

/** What has the rarest of the words and so many of the others, in the room as it was after so many gatherings. */
type Begun = {
  readonly words: string;
  readonly count: number;
  readonly hits: Found;
  readonly next: number;
  readonly gatherings: number;
};

/** Gives what is remembered of a word; `null` where it has to be learnt first. */
type Recall = (asked: Asked | Remembered) => Remembered | null;

export class MarketSearch {
  readonly #journal: UndoLog;
  /** Fields: the question; slug, category and tags; the outcomes. */
  readonly #titles: TextSearch;
  readonly #descriptions: TextSearch;
  readonly #common = new KnownWords();
  /** The one that is being learnt bit by bit. */
  #learning: Learning | null = null;
  /** What `learn` has found last, as long as it is what `find` would find. */
  #found: { readonly words: string; readonly count: number; readonly hits: Hits } | null = null;
  /** What some of the words of a search have, while the next one is learnt. */
  #begun: Begun | null = null;
  /** Words as they were found since a text changed last. */
  readonly #asked = new Map<string, Asked>();
  /** Scores of the word being looked for, all 0 in between. */
  #scratch = new Uint8Array(0);
  readonly #room = new HitRoom();
  #unsearched = 0;
  /** Changes reverted and not made again: what is remembered is of a state that is gone. */
  #undone = 0;

  constructor(stateStore: StateStore, journal: UndoLog) {
    this.#journal = journal;
    this.#titles = new TextSearch({ stateStore, journal }, "titles", titleFields);
    this.#descriptions = new TextSearch({ stateStore, journal }, "descriptions", 1);
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

  /** The words, with those that no market has replaced by the most frequent one that differs by one typo. */
  corrected(words: readonly string[]): readonly string[] {
    if (this.#undone !== 0) this.#forget();
    return words.map((word) =>
      this.#common.has(word) || this.#ask(word).postings > 0 ? word : this.#nearest(word),
    );
  }

  #nearest(word: string): string {
    let nearest = word;
    let most = 0;
    for (const candidate of withoutTypo(word)) {
      const titles = this.#titles.findTerms(candidate, "whole").postings;
      const postings = titles + this.#descriptions.findTerms(candidate, "whole").postings;
      if (postings <= most) continue;
      nearest = candidate;
      most = postings;
    }
    return nearest;
  }

  /** The markets below `count` that have all of the words, and how well they answer them. */
  find(words: readonly string[], count: number): Hits {
    this.#unsearched = 0;
    const found = this.#found;
    if (found !== null && found.count === count && found.words === words.join(" ")) {
      // It is for the caller to change.
      this.#found = null;
      if (this.#undone === 0) return found.hits;
    }
    return this.#find(words, count, (asked) => this.#knownOf(asked, count)) ?? noHits;
  }

  /**
   * Learns bit by bit what `find` would have to read in one go: the lists of common words no one has asked
   * for lately. Anything may change in between, and others may search.
   */
  *learn(words: readonly string[], count: () => number): Generator<void, void, void> {
    for (const word of words.slice(0, marketLimits.searchWordsMax)) {
      if (!this.#common.has(word)) this.#ask(word);
      yield;
    }
    // More often only when others have made it forget what was learnt.
    for (let turn = 0; turn < marketLimits.searchWordsMax * 2; turn += 1) {
      while (this.#learning !== null) {
        this.#learnOn(this.#learning);
        yield;
      }
      const unknown = this.#unknownOf(words, count());
      if (unknown === null) return;
      this.#learning = this.#begin(unknown, count());
    }
  }

  /** A word that `find` would read long lists for. */
  #unknownOf(words: readonly string[], count: number): Asked | null {
    const unknown: Asked[] = [];
    const hits = this.#find(words, count, (asked) => {
      if ("scores" in asked) return asked;
      unknown.push(asked);
      return null;
    });
    if (hits !== null) this.#found = { words: words.join(" "), count, hits };
    return unknown[0] ?? null;
  }

  /** What is found, as long as all that has to be known for it can be recalled. */
  #find(words: readonly string[], count: number, recall: Recall): Hits | null {
    this.#found = null;
    if (this.#undone !== 0) this.#forget();
    if (this.#scratch.length < count) this.#scratch = new Uint8Array(roomFor(count));
    const asked = [...new Set(words)]
      .slice(0, marketLimits.searchWordsMax)
      .map((word) => this.#common.recall(word) ?? this.#ask(word))
      .toSorted((a, b) => a.postings - b.postings);
    const [rarest, ...others] = asked;
    if (rarest === undefined || rarest.postings === 0) return noHits;
    const isFew = others.length > 0 && rarest.postings * gatheredShare < count;
    if (isCommon(rarest, count) && !isFew) {
      const known = asked.map(recall).filter((one) => one !== null);
      return known.length < asked.length ? null : manyOf(known);
    }
    const first = isCommon(rarest, count) ? recall(rarest) : rarest;
    if (first === null) return null;
    const begun = this.#takeBegun(words, count);
    let hits = begun?.hits ?? this.#hitsOf(first, count);
    for (const [next, other] of others.entries()) {
      if (hits.ordinals.length === 0) break;
      if (next < (begun?.next ?? 0)) continue;
      const both = this.#within(hits, other, { count, recall });
      if (both === null) {
        const { gatherings } = this.#room;
        this.#begun = { words: words.join(" "), count, hits, next, gatherings };
        return null;
      }
      hits = both;
    }
    return hits;
  }

  /** What was found so far of these words, if nothing has changed since and no one else has searched. */
  #takeBegun(words: readonly string[], count: number): Begun | null {
    const begun = this.#begun;
    this.#begun = null;
    const isOfThese = begun?.count === count && begun.words === words.join(" ");
    return isOfThese && begun.gatherings === this.#room.gatherings ? begun : null;
  }

  #ask(word: string): Asked {
    const known = this.#asked.get(word);
    if (known !== undefined) return known;
    const titles = this.#titles.findTerms(word, reachIn(word).titles);
    const descriptions = this.#descriptions.findTerms(word, reachIn(word).descriptions);
    const postings = titles.postings + descriptions.postings;
    const asked = { word, titles, descriptions, postings };
    if (this.#asked.size >= marketLimits.commonWordsMax) this.#asked.clear();
    this.#asked.set(word, asked);
    return asked;
  }

  #score(asked: Asked, scores: Uint8Array): void {
    const steps = this.#scoring(asked, scores);
    while (steps.next().done !== true);
  }

  *#scoring({ titles, descriptions }: Asked, scores: Uint8Array): Generator<void, void, void> {
    yield* this.#titles.scoringTerms(titles, titleWeights, scores);
    yield* this.#descriptions.scoringTerms(descriptions, descriptionWeights, scores);
  }

  /** What is to be known of a word, which is remembered from now on. */
  #knownOf(asked: Asked | Remembered, count: number): Remembered {
    if ("scores" in asked) return asked;
    const { steps, known } = this.#begin(asked, count);
    while (steps.next().done !== true);
    this.#common.set(asked.word, known);
    return known;
  }

  #hitsOf(rarest: Asked | Remembered, count: number): Found {
    if ("scores" in rarest) return this.#room.gather(rarest.scores, count);
    this.#score(rarest, this.#scratch);
    const hits = this.#room.gather(this.#scratch, count, rarest.postings);
    this.#scratch.fill(0, 0, count);
    return hits;
  }

  /** What was found and has another word, whatever way of looking for it is the shortest. */
  #within(
    hits: Found,
    other: Asked | Remembered,
    { count, recall }: { count: number; recall: Recall },
  ): Found | null {
    if ("scores" in other) return intersect(hits, other.scores);
    const found = hits.ordinals.length;
    const isLong = costAmong(other, found) >= other.postings * scoredCost;
    if (isLong && isCommon(other, count)) {
      const known = recall(other);
      return known === null ? null : intersect(hits, known.scores);
    }
    if (isLong) {
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

  /** Begins to learn a word. */
  #begin(asked: Asked, count: number): Learning {
    const { word, postings } = asked;
    const known = { scores: this.#common.makeRoom(count), postings, top: 0 };
    return { word, known, steps: this.#reading(asked, known) };
  }

  *#reading(asked: Asked, known: Remembered): Generator<void, void, void> {
    yield* this.#scoring(asked, known.scores);
    known.top = highestOf(known.scores, mostWorth(asked));
  }

  #learnOn({ word, known, steps }: Learning): void {
    if (this.#undone !== 0) this.#forget();
    else if (steps.next().done === true) {
      this.#learning = null;
      this.#common.set(word, known);
    }
  }

  #forget(): void {
    this.#common.forget();
    this.#learning = null;
    this.#found = null;
    this.#begun = null;
    this.#asked.clear();
    this.#undone = 0;
  }

  /** Brings what is remembered up to date with the words of a market. */
  #follow(ordinal: number, words: SearchedWords): void {
    this.#journal.note({
      undo: () => {
        this.#undone += 1;
      },
      redo: () => {
        this.#undone -= 1;
      },
    });
    this.#asked.clear();
    this.#found = null;
    this.#begun = null;
    const learning = this.#learning;
    if (this.#common.size === 0 && learning === null) return;
    this.#unsearched += 1;
    const isOut = this.#undone !== 0 || this.#unsearched > marketLimits.textsUnsearchedMax;
    if (isOut) return this.#forget();
    this.#common.follow(ordinal, words);
    // What is read from here on says no more of it than that.
    const isFollowed =
      learning === null || rescore(learning.known, ordinal, scoreOf(learning.word, words));
    if (!isFollowed) this.#learning = null;
  }
}

function manyOf(known: readonly Remembered[]): Hits {
  const top = known.reduce((sum, one) => sum + one.top, 0);
  return { kind: "many", words: known.map(({ scores }) => scores), top };
}

/** What looking for a word in so many markets costs, as so many postings to be read. */
function costAmong({ titles, descriptions, postings }: Asked, found: number): number {
  // Short lists are read whole, and each is compared with all that was found.
  const terms = titles.count + descriptions.count;
  const short = titles.short + descriptions.short;
  return short + terms * found + Math.min(found * passedOver, postings - short);
}

function isCommon({ postings }: Asked | Remembered, count: number): boolean {
  return postings * commonShare >= Math.max(count, commonMin);
}
