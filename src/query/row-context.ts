import type { RowContext } from "../rows/trade-row.ts";
import type { FactStore } from "../storage/fact-store.ts";
import type { MarketState } from "../views/markets/market-state.ts";

/** What rows need to know, as of now. */
export function rowContextOf(parts: {
  readonly store: FactStore;
  readonly state: MarketState;
}): RowContext {
  const { store, state } = parts;
  return { directory: state.directory, finalizedBlock: store.coverage?.last.number ?? -1 };
}
