import { assert } from "../../base/assert.ts";
import type { Resolution } from "../../market/market.ts";
import type { ResolutionFacts } from "../../rows/resolution-row.ts";
import { firstSeqAbove } from "../../storage/covered-facts.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";
import type { MarketDirectory } from "../../views/markets/market-directory.ts";
import type { MarketState } from "../../views/markets/market-state.ts";
import type { ResolutionRange } from "../../views/markets/resolution-log.ts";

type Sources = { readonly facts: IndexedFacts; readonly state: MarketState };

/** A list of resolutions: its range, the index where it begins, and its direction. */
export type ResolutionList = {
  readonly range: ResolutionRange;
  readonly from: { readonly index: number; readonly step: 1 | -1 };
};

/** The indexes of resolutions in the order of a list, and how to read each of them. */
export type ResolutionSnapshot = {
  readonly indexes: readonly number[];
  readonly at: (index: number) => Resolution;
};

/** Takes a snapshot of the first `limit` rows of a list. Copies the unfinalized ones; final ones are read on demand. */
export function snapshotResolutions(
  { facts, state }: Sources,
  { range, from }: ResolutionList,
  limit: number,
): ResolutionSnapshot {
  facts.reads.add("resolutions", "views");
  const { resolutions } = state.directory;
  const indexes = resolutions.indexes(range, from).take(limit).toArray();
  const stored = (index: number): Resolution => {
    const found = resolutions.at(index);
    assert(found !== null, "no final resolution is removed");
    return found;
  };
  const unfinalizedFrom = resolutions.firstFrom(firstSeqAbove(facts.coverage));
  const unfinalized = new Map(
    indexes.filter((index) => index >= unfinalizedFrom).map((index) => [index, stored(index)]),
  );
  return { indexes, at: (index) => unfinalized.get(index) ?? stored(index) };
}

/** Returns a resolution with its market and the result on the other ledger. */
export function describeResolution(
  resolution: Resolution,
  directory: MarketDirectory,
): ResolutionFacts {
  const { conditionId } = resolution;
  const otherId = directory.conditionsOfMarket(conditionId).find((id) => id !== conditionId);
  const other = otherId === undefined ? null : directory.getResolution(otherId);
  return { resolution, market: directory.market(conditionId), other };
}
