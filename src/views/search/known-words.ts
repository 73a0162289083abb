import { marketLimits } from "../../base/config/limits.ts";
import { type SearchedWords, scoreOf } from "./word-worth.ts";

/** What is remembered of a word: scores by ordinal, and in how many documents it was, about. */
export type Remembered = {
  readonly scores: Uint8Array;
  readonly postings: number;
  /** No score is higher. */
  top: number;
};
/** The same, and how many postings were not read again as it is remembered, which fades. */
type Kept = { readonly known: Remembered; saved: number };

/** What is left of that whenever another word is forgotten, for those not asked for lately. */
const fading = 255 / 256;

/** Words whose long lists were read, those asked for last at the end; kept right as texts come. */
export class KnownWords {
  readonly #known = new Map<string, Kept>();
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
    const kept = this.#known.get(word);
    if (kept === undefined) return null;
    this.#known.delete(word);
    this.#known.set(word, kept);
    kept.saved += kept.known.postings;
    return kept.known;
  }

  set(word: string, known: Remembered): void {
    this.#known.set(word, { known, saved: known.postings });
  }

  /**
   * Scores of nothing, for one more word: in the place of the one that has saved least. Those asked for
   * last stay, as many as a search has words: it needs all of them together.
   */
  makeRoom(count: number): Uint8Array {
    const { commonWordsMax, searchWordsMax } = marketLimits;
    if (this.#known.size >= commonWordsMax) {
      const older = [...this.#known].slice(0, -searchWordsMax);
      const [least] = older.toSorted(([, a], [, b]) => a.saved - b.saved);
      for (const [, kept] of older) kept.saved *= fading;
      if (least !== undefined) this.#drop(least[0]);
    }
    const spare = this.#spare.pop();
    if (spare === undefined || spare.length < count) return new Uint8Array(roomFor(count));
    return spare.fill(0);
  }

  /** Brings what is remembered up to date with the words of a market. */
  follow(ordinal: number, words: SearchedWords): void {
    for (const [word, { known }] of this.#known) {
      if (!rescore(known, ordinal, scoreOf(word, words))) this.#drop(word);
    }
  }

  forget(): void {
    for (const word of this.#known.keys()) this.#drop(word);
  }

  #drop(word: string): void {
    const kept = this.#known.get(word);
    this.#known.delete(word);
    if (kept !== undefined) this.#spare.push(kept.known.scores);
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
