import type { Contracts } from "../decode/contracts.ts";
import type { MarketState } from "../market/market-state.ts";
import type { RowContext } from "../rows/trade-row.ts";
import type { FactStore } from "../store/fact-store.ts";
import type { Cursors } from "./cursor.ts";
import type { Freshness } from "./meta.ts";
import type { Kept } from "./route.ts";

/** What the endpoints that serve data read from. They write nothing. */
export type Backend = {
  readonly store: FactStore;
  readonly state: MarketState;
  readonly contracts: Contracts;
  readonly cursors: Cursors;
  readonly freshness: () => Freshness;
};

/** Answers that change with anything that is indexed, becomes final or is taken back. */
export function keptUntilNews({ store, state, freshness }: Backend): Kept {
  return {
    freshness,
    lasts: () => {
      const [stored, known] = [store.revision, state.revision];
      return () => store.revision === stored && state.revision === known;
    },
  };
}

/** What rows need to know, as of now. */
export function rowContextOf({ store, state }: Backend): RowContext {
  return {
    directory: state.directory,
    finalizedBlock: store.coverage?.last.number ?? -1,
  };
}
