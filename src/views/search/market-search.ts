/**
 * Searches markets by words, all of which have to match. The rarest word is searched first. Once few markets are
 * left, the other words are only searched in those.
 */
import { marketLimits } from "../../base/config/limits.ts";
import type { Market } from "../../market/market.ts";
import type { VenueMetadata } from "../../market/venue-metadata.ts";
import { type Chunk, inChunks } from "../disk/chunked-loop.ts";
import type { StateStore } from "../disk/state-store.ts";
import type { UndoLog } from "../disk/undo-log.ts";
import { skippedPostings } from "./posting-lists.ts";
import { toWords, withoutTypo } from "./search-words.ts";
import type { MatchKind } from "./terms.ts";
import { type FoundTerms, TextSearch, type Weights } from "./text-search.ts";
import { WordScores } from "./word-scores.ts";

/** What a market can be found by, whether the chain or the venue provides it. */
export type SearchedMarket = Pick<Market, "question" | "description"> & {
  readonly tokens: readonly Pick<Market["tokens"][number], "outcome">[];
  readonly venue: Pick<VenueMetadata, "slug" | "category" | "tags"> | null;
};

/** Scores of question, names and outcomes. Times 3 for a whole word, 2 for its start, 1 within: at most 150, a byte. */
const titleWorths = [50, 16, 15];
const titleWeights = getWeights(titleWorths);
const descriptionWeights = getWeights([5]);
/**
 * The length in bytes from which a word is also searched within title words and as the start of description words. Half
 * of all titles have a word that contains any given two letters.
 */
const titleWithinBytesMin = 3;
const descriptionStartBytesMin = 3;
/** A word is common if one in this many markets has it. Parts of words are not kept: too many are searched. */
const commonShare = 16;
/** Attempts with pauses. If changes interrupt all of them, the search runs to its end in one turn. */
const pausedAttemptsMax = 3;

/** Found markets are listed by their ordinals when fewer than one market in this many is found. */
const fewShare = 8;

/** The terms that match a word of a search, and how many postings they have together. */
type WordMatches = {
  readonly word: string;
  readonly titles: FoundTerms;
  readonly descriptions: FoundTerms;
  readonly postings: number;
};

/** Where the scores of a word are added. `among` lists the markets that are still candidates; `null` means all. */
type Ranking = {
  readonly ranks: Ranks;
  readonly among: Int32Array | null;
  /** Whether this is the first word. Before it no market has a rank. */
  readonly isFirst: boolean;
};

/** How well each market matches all words, by ordinal; 0 when it does not match. */
export type Ranks = Uint16Array<ArrayBuffer>;

/** The result of a search. `ordinals` are the markets with a rank; `null` unless they are few. */
export type Hits = { readonly ranks: Ranks; readonly ordinals: Int32Array | null };

export class MarketSearch {
  readonly #journal: UndoLog;
  readonly #titles: TextSearch;
  readonly #descriptions: TextSearch;
  readonly #common = new WordScores();
  /** Scores of the current word if it is not common; all 0 between words. */
  #scratch = new Uint8Array(0);
  /** How often texts have changed, reverts included. */
  #changes = 0;

  constructor(stateStore: StateStore) {
    this.#journal = stateStore.journal;
    this.#titles = new TextSearch(stateStore, "titles", titleWorths.length);
    this.#descriptions = new TextSearch(stateStore, "descriptions", 1);
  }

  put(ordinal: number, { question, description, tokens, venue }: SearchedMarket): void {
    const { slug = null, category = null, tags = [] } = venue ?? {};
    const names = [slug, category, ...tags].flatMap((name) => toWords(name ?? ""));
    const outcomes = tokens.flatMap(({ outcome }) => toWords(outcome ?? ""));
    this.#titles.put(ordinal, [toWords(question ?? ""), names, outcomes]);
    this.#descriptions.put(ordinal, [toWords(description ?? "")]);
    this.#recordChange(ordinal);
  }

  /** Replaces each word that no market has by the most frequent word that is one typo away. */
  corrected(words: readonly string[]): readonly string[] {
    return words.map((word) => {
      const candidates = withoutTypo(word);
      if (candidates.length === 0 || this.#matchWord(word).postings > 0) return word;
      let [nearest, most] = [word, 0];
      for (const candidate of candidates) {
        const titles = this.#titles.findTerms(candidate, "whole").postings;
        const postings = titles + this.#descriptions.findTerms(candidate, "whole").postings;
        if (postings > most) [nearest, most] = [candidate, postings];
      }
      return nearest;
    });
  }

  /**
   * Finds the markets with ordinals below `count` that have all of the words, with a pause after each word. Starts over
   * when texts change during a pause, finally without pauses.
   */
  *find(words: readonly string[], count: () => number): Generator<void, Hits, void> {
    for (let attempt = 0; ; attempt += 1) {
      const changes = this.#changes;
      const steps = this.#searching(words, count());
      for (let step = steps.next(); changes === this.#changes; step = steps.next()) {
        if (step.done === true) return step.value;
        if (attempt < pausedAttemptsMax) yield;
      }
    }
  }

  *#searching(words: readonly string[], count: number): Generator<void, Hits, void> {
    const ranks = new Uint16Array(count);
    const matches = [...new Set(words)]
      .slice(0, marketLimits.searchWordsMax)
      .map((word) => this.#matchWord(word))
      .toSorted((a, b) => a.postings - b.postings);
    const [rarest, ...others] = matches;
    if (rarest === undefined) return { ranks, ordinals: null };
    const isLeft = (ordinal: number): boolean => ranks[ordinal] !== 0;
    let found = this.#rank(rarest, { ranks, among: null, isFirst: true });
    /** The markets with a rank, and some that have lost it; `null` while they are many. */
    let ranked: Int32Array<ArrayBuffer> | null = null;
    for (const other of others) {
      if (found === 0) break;
      yield;
      if (found * fewShare < count) {
        ranked = ranked === null ? getRanked(ranks, found) : ranked.filter(isLeft);
      }
      found = this.#rank(other, { ranks, among: ranked, isFirst: false });
    }
    if (found * fewShare >= count) return { ranks, ordinals: null };
    return { ranks, ordinals: ranked === null ? getRanked(ranks, found) : ranked.filter(isLeft) };
  }

  #matchWord(word: string): WordMatches {
    const bytes = Buffer.byteLength(word);
    const titleWay: MatchKind = bytes < titleWithinBytesMin ? "start" : "within";
    const descriptionWay: MatchKind = bytes < descriptionStartBytesMin ? "whole" : "start";
    const titles = this.#titles.findTerms(word, titleWay);
    const descriptions = this.#descriptions.findTerms(word, descriptionWay);
    return { word, titles, descriptions, postings: titles.postings + descriptions.postings };
  }

  /** Adds the scores of a word to the ranks. Returns how many markets have all words so far. */
  #rank(matches: WordMatches, { ranks, among, isFirst }: Ranking): number {
    const scores = this.#getScores(matches, ranks.length, among);
    const adding = { scores, always: Number(isFirst) };
    let found = 0;
    if (among === null) found = inChunks(ranks.length, (step) => addScores(ranks, adding, step));
    for (const ordinal of among ?? []) {
      found += addScores(ranks, adding, { from: ordinal, to: ordinal + 1 });
    }
    if (scores === this.#scratch) scores.fill(0);
    return found;
  }

  /** Returns the scores of a word by ordinal: of all markets, or at least of some. */
  #getScores(matches: WordMatches, count: number, among: Int32Array | null): Uint8Array {
    const { word, titles, descriptions, postings } = matches;
    const kept = this.#common.get(word, count);
    if (kept !== null) {
      if (kept.outdated.length > 0) this.#raise(matches, kept.scores, kept.outdated);
      return kept.scores;
    }
    const isSkipping = among !== null && among.length * skippedPostings < postings;
    const isCommon = Math.max(titles.whole, descriptions.whole) * commonShare >= count;
    const isKept = isCommon && !isSkipping;
    if (!isKept && this.#scratch.length < count) this.#scratch = new Uint8Array(roomFor(count));
    const scores = isKept ? new Uint8Array(roomFor(count)) : this.#scratch;
    this.#raise(matches, scores, isSkipping ? among : null);
    if (isKept) this.#common.put(word, scores);
    return scores;
  }

  /** Raises the scores of the markets that match a word, or at least of those that are among some. */
  #raise(
    { titles, descriptions }: WordMatches,
    scores: Uint8Array,
    among: Iterable<number> | null,
  ): void {
    this.#titles.scoreTerms(titles, titleWeights, { scores, among });
    this.#descriptions.scoreTerms(descriptions, descriptionWeights, { scores, among });
  }

  #recordChange(ordinal: number): void {
    const change = (): void => {
      this.#changes += 1;
      this.#common.recordChange(ordinal);
    };
    change();
    this.#journal.addChange({ undo: change, redo: change });
  }
}

/** Leaves room for new markets, so that the buffer is seldom replaced. */
function roomFor(count: number): number {
  return Math.ceil(count * 1.1) + 1024;
}

/** Adds scores to ranks above 0, or to all. A score of 0 clears the rank. Branch-free: a branch is unpredictable here. */
function addScores(
  ranks: Ranks,
  { scores, always }: { scores: Uint8Array; always: number },
  { from, to }: Chunk,
): number {
  let found = 0;
  for (let at = from; at < to; at = (at + 1) | 0) {
    const before = ranks[at] ?? 0;
    const score = scores[at] ?? 0;
    // `-x >>> 31` is 1 for x above 0.
    const isRanked = (-score >>> 31) & ((-before >>> 31) | always);
    ranks[at] = Math.imul(before + score, isRanked);
    found = (found + isRanked) | 0;
  }
  return found;
}

/** Returns the ordinals of the `count` markets that have a rank. */
export function getRanked(ranks: Ranks, count: number): Int32Array<ArrayBuffer> {
  // The loop also writes to the element behind the last one.
  const ordinals = new Int32Array(count + 1);
  inChunks(ranks.length, (step, found) => writeRanked(ranks, { ordinals, found }, step));
  return ordinals.subarray(0, count);
}

function writeRanked(
  ranks: Ranks,
  { ordinals, found: before }: { ordinals: Int32Array; found: number },
  { from, to }: Chunk,
): number {
  let found = before;
  for (let at = from; at < to; at = (at + 1) | 0) {
    ordinals[found] = at;
    found = (found + (-(ranks[at] ?? 0) >>> 31)) | 0;
  }
  return found - before;
}

/** Returns the score of each combination of fields: the score of its best field. */
function getWeights(fieldWeights: readonly number[]): Weights {
  const times = (factor: number): Uint8Array =>
    Uint8Array.from({ length: 1 << fieldWeights.length }, (_, bits) =>
      Math.max(
        0,
        ...fieldWeights.map((weight, field) => (bits & (1 << field) ? weight * factor : 0)),
      ),
    );
  return { whole: times(3), start: times(2), within: times(1) };
}
