/**
 * The scores of words that many markets have, for the words used last. To score such a word takes some 10 ms with
 * 1.5 million markets, and a search can have several (`bench/markets.bench.ts`).
 */

/** A word takes a byte a market: 50 MB in all with 1.5 million markets. */
const wordsMax = 32;
/** When more texts have changed, scores are dropped: it is as fast to make them again. */
const changedMax = 10_000;

/** The score of a word in each market, by ordinal. `seen` is how many of the changes they include. */
type Kept = { readonly scores: Uint8Array; seen: number };

export class WordScores {
  /** The word used last is last. */
  readonly #kept = new Map<string, Kept>();
  /** The ordinals whose texts have changed since the first of the scores were made. */
  #changed: number[] = [];

  has(word: string): boolean {
    return this.#kept.has(word);
  }

  /**
   * Returns the scores of a word, at least `count`, with the ordinals whose scores are outdated, in rising order. The
   * caller has to replace these. Returns `null` if the scores are not kept.
   */
  get(word: string, count: number): { scores: Uint8Array; outdated: Int32Array } | null {
    const kept = this.#kept.get(word);
    this.#kept.delete(word);
    if (kept === undefined || kept.scores.length < count) return null;
    const outdated = Int32Array.from(new Set(this.#changed.slice(kept.seen))).toSorted();
    kept.seen = this.#changed.length;
    this.#kept.set(word, kept);
    return { scores: kept.scores, outdated };
  }

  /** Keeps scores in place of those that were used least recently. */
  put(word: string, scores: Uint8Array): void {
    this.#kept.set(word, { scores, seen: this.#changed.length });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > wordsMax && oldest !== undefined) this.#kept.delete(oldest);
  }

  /** Must be called after each change of a market's texts. */
  noteChange(ordinal: number): void {
    if (this.#kept.size > 0 && this.#changed.length < changedMax) {
      this.#changed.push(ordinal);
      return;
    }
    this.#kept.clear();
    this.#changed = [];
  }
}
