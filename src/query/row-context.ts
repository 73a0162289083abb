import type { RowContext } from "../rows/trade-row.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import type { MarketState } from "../views/markets/market-state.ts";

/** Returns the context that rows are presented with, as of now. */
export function getRowContext(parts: {
  readonly facts: IndexedFacts;
  readonly state: MarketState;
}): RowContext {
  const { facts, state } = parts;
  return { directory: state.directory, finalizedBlock: facts.coverage?.last.number ?? -1 };
}
