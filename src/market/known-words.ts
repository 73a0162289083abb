import { marketLimits } from "../base/limits.ts";
import { type SearchedWords, scoreOf } from "./word-worth.ts";

/** What is remembered of a word: scores by ordinal, and in how many documents it was, about. */
export type Remembered = {
  readonly scores: Uint8Array;
  readonly postings: number;
  /** No score is higher. */
  top: number;
};

/** Words whose long lists were read, those asked for last at the end; kept right as texts come. */
export class KnownWords {
  readonly #known = new Map<string, Remembered>();
  /** Room of words that were forgotten, to be used again: making it costs as much as looking. */
  readonly #spare: Uint8Array[] = [];

  get size(): number {
    return this.#known.size;
  }

  has(word: string): boolean {
    return this.#known.has(word);
  }

  /** What is remembered of a word, which is asked for now; `null` without. */
  recall(word: string): Remembered | null {
    const known = this.#known.get(word);
    if (known === undefined) return null;
    this.#known.delete(word);
    this.#known.set(word, known);
    return known;
  }

  set(word: string, known: Remembered): void {
    this.#known.set(word, known);
  }

  /**
   * Scores of nothing, for one more word: in the place of the one that is read again soonest, of the half
   * not asked for longest. None of the search at hand is, as that half is more than a search has words.
   */
  makeRoom(count: number): Uint8Array {
    if (this.#known.size >= marketLimits.commonWordsMax) {
      const older = [...this.#known].slice(0, marketLimits.commonWordsMax / 2);
      const [cheapest] = older.toSorted(([, a], [, b]) => a.postings - b.postings);
      if (cheapest !== undefined) this.#drop(cheapest[0]);
    }
    const spare = this.#spare.pop();
    if (spare === undefined || spare.length < count) return new Uint8Array(roomFor(count));
    return spare.fill(0);
  }

  /** Brings what is remembered up to date with the words of a market. */
  follow(ordinal: number, words: SearchedWords): void {
    for (const [word, known] of this.#known) {
      if (!rescore(known, ordinal, scoreOf(word, words))) this.#drop(word);
    }
  }

  forget(): void {
    for (const word of this.#known.keys()) this.#drop(word);
  }

  #drop(word: string): void {
    const known = this.#known.get(word);
    this.#known.delete(word);
    if (known !== undefined) this.#spare.push(known.scores);
  }
}

/** Sets the score of a market, if there is room for it. */
export function rescore(known: Remembered, ordinal: number, score: number): boolean {
  if (ordinal >= known.scores.length) return false;
  known.scores[ordinal] = score;
  known.top = Math.max(known.top, score);
  return true;
}

/** Room for markets to come, a multiple of four. */
export function roomFor(count: number): number {
  return Math.ceil(count * 0.275) * 4 + 1024;
}
