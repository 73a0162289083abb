import type { Hits, MarketSearch } from "../../src/views/search/market-search.ts";

/** Runs a search to its end, without pauses. */
export function searchNow(search: MarketSearch, words: readonly string[], count: number): Hits {
  const steps = search.find(words, () => count);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
