import { chainLimits } from "../base/config/limits.ts";

/** The part of an endpoint that has the head of its chain. */
type WithHead = { readonly view: { readonly head: { readonly number: number } } | null };

/**
 * Returns the highest believable head: the upper median of all claims plus `endpointLagBlocksMax`, by which honest
 * endpoints can differ. `null` without a claim.
 */
export function believedHeadMax(endpoints: readonly WithHead[]): number | null {
  const heads = headsOf(endpoints);
  const median = heads[heads.length >> 1];
  return median === undefined ? null : median + chainLimits.endpointLagBlocksMax;
}

/** Returns the endpoints near the median head, which decide finality, or all endpoints if those are not a majority. */
export function nearMedian<Endpoint extends WithHead>(endpoints: readonly Endpoint[]): Endpoint[] {
  const heads = headsOf(endpoints);
  const median = heads[(heads.length - 1) >> 1] ?? 0;
  const near = endpoints.filter(
    ({ view }) =>
      view !== null && Math.abs(view.head.number - median) <= chainLimits.endpointLagBlocksMax,
  );
  return 2 * near.length > endpoints.length ? near : [...endpoints];
}

function headsOf(endpoints: readonly WithHead[]): readonly number[] {
  return endpoints
    .flatMap(({ view }) => (view === null ? [] : [view.head.number]))
    .toSorted((one, other) => one - other);
}
