import { assert } from "../base/assert.ts";
import type { ConditionId } from "../base/ids.ts";
import type { Resolution } from "../market/market.ts";
import { firstSeqAbove } from "../storage/recover.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import type { MarketState } from "../views/markets/market-state.ts";
import type { ResolutionRange } from "../views/markets/resolution-log.ts";

type Sources = { readonly facts: IndexedFacts; readonly state: MarketState };

/** A list of resolutions: its range, the index where it begins, and its direction. */
export type ResolutionList = {
  readonly range: ResolutionRange;
  readonly from: { readonly index: number; readonly step: 1 | -1 };
};

/** Reads the first `limit` resolutions of a list from the views alone. */
export function readResolutions(
  { facts, state }: Sources,
  { range, from }: ResolutionList,
  limit: number,
): readonly Resolution[] {
  facts.reads.add("resolutions", "views");
  return state.directory.resolutions.select(range, from).take(limit).toArray();
}

/** Takes a snapshot of a list. Copies unfinalized resolutions; final ones keep their index and are read on demand. */
export function snapshotResolutions(
  { facts, state }: Sources,
  { range, from }: ResolutionList,
): { readonly length: number; readonly at: (index: number) => Resolution } {
  facts.reads.add("resolutions", "views");
  const { resolutions } = state.directory;
  const places = resolutions.places(range, from);
  const stored = (place: number): Resolution => {
    const found = resolutions.at(place);
    assert(found !== null, "no final resolution is removed");
    return found;
  };
  const seq = firstSeqAbove(facts.coverage);
  const unfinalizedFrom = resolutions.indexOf({ seq, conditionId: "0x" as ConditionId });
  const unfinalized = new Map(
    places.filter((place) => place >= unfinalizedFrom).map((place) => [place, stored(place)]),
  );
  return {
    length: places.length,
    at: (index) => {
      const place = places[index] ?? -1;
      return unfinalized.get(place) ?? stored(place);
    },
  };
}
