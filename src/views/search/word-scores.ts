/**
 * The scores of words that many markets have, for the words used last. To score such a word takes some 10 ms with
 * 1.5 million markets, and a search can have several (`bench/markets.bench.ts`).
 */

/** A word takes a byte a market: 50 MB in all with 1.5 million markets. */
const wordsMax = 32;
/** When more texts have changed, the scores are dropped: it is as fast to make them again. */
const changedMax = 10_000;

/** The score of a word in each market, by ordinal, and the ordinals whose texts have changed since. */
type Kept = { readonly scores: Uint8Array; readonly outdated: Set<number> };

export class WordScores {
  /** The word used last is last. */
  readonly #kept = new Map<string, Kept>();

  /**
   * Returns the scores of a word, at least `count`, with the ordinals whose scores are outdated and set to 0. The caller
   * has to raise these. Returns `null` if the scores are not kept.
   */
  get(word: string, count: number): { scores: Uint8Array; outdated: readonly number[] } | null {
    const kept = this.#kept.get(word);
    this.#kept.delete(word);
    if (kept === undefined || kept.scores.length < count) return null;
    this.#kept.set(word, kept);
    const outdated = [...kept.outdated];
    for (const ordinal of outdated) kept.scores[ordinal] = 0;
    kept.outdated.clear();
    return { scores: kept.scores, outdated };
  }

  /** Keeps scores in place of those that were used least recently. */
  put(word: string, scores: Uint8Array): void {
    this.#kept.set(word, { scores, outdated: new Set() });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > wordsMax && oldest !== undefined) this.#kept.delete(oldest);
  }

  /** Must be called after each change of a market's texts. */
  recordChange(ordinal: number): void {
    for (const [word, { outdated }] of this.#kept) {
      outdated.add(ordinal);
      if (outdated.size > changedMax) this.#kept.delete(word);
    }
  }
}
