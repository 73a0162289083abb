import type { RowContext } from "../rows/trade-row.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import type { MarketState } from "../views/markets/market-state.ts";

/** What rows need to know, as of now. */
export function rowContextOf(parts: {
  readonly store: IndexedFacts;
  readonly state: MarketState;
}): RowContext {
  const { store, state } = parts;
  return { directory: state.directory, finalizedBlock: store.coverage?.last.number ?? -1 };
}
