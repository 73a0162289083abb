import { toFirstSeq } from "../base/ids.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import type { MarketState } from "../views/markets/market-state.ts";

/** The lower bounds of a list: `start` in Unix milliseconds. */
export type LowerBounds = {
  readonly start?: number | undefined;
  readonly from_block?: number | undefined;
  readonly after_seq?: number | undefined;
};

/** Returns whether a list with these bounds would have rows of blocks before the first indexed one. */
export function reachesBeforeFirst(
  { facts, state }: { readonly facts: IndexedFacts; readonly state: MarketState },
  { start, from_block, after_seq }: LowerBounds,
): boolean {
  const { first } = facts;
  if (first === null || first.number <= state.genesisBlock) return false;
  const bounds = [
    start !== undefined && start < first.timestamp * 1000,
    from_block !== undefined && from_block < first.number,
    after_seq !== undefined && after_seq < toFirstSeq(first.number) - 1,
  ];
  const given = [start, from_block, after_seq].map((bound) => bound !== undefined);
  return given.some(Boolean) && bounds.every((isBefore, index) => isBefore || !given[index]);
}
