import type { RowContext } from "../rows/trade-row.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import type { MarketState } from "../views/markets/market-state.ts";

/** Returns the context that rows are presented with, as of now. */
export function getRowContext(parts: {
  readonly facts: Pick<IndexedFacts, "coverage">;
  readonly state: Pick<MarketState, "directory">;
}): RowContext {
  const { facts, state } = parts;
  const { directory } = state;
  return {
    contracts: directory.contracts,
    getToken: (tokenId) => directory.getToken(tokenId),
    getFeeBips: (tokenId) => directory.conversionFeeBips(tokenId),
    finalizedBlock: facts.coverage?.last.number ?? -1,
  };
}
