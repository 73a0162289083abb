import { chainLimits } from "../base/config/limits.ts";

/** The part of an endpoint's view that says how far its chain reaches. */
type WithHead = { readonly view: { readonly head: { readonly number: number } } | null };

/**
 * The highest believable head: the upper median of all claims, plus the distance that honest endpoints may be apart;
 * `null` without a claim.
 */
export function believedHeadMax(endpoints: readonly WithHead[]): number | null {
  const heads = headsOf(endpoints);
  const median = heads[heads.length >> 1];
  return median === undefined ? null : median + chainLimits.endpointLagBlocksMax;
}

/** The endpoints near the median head, which decide finality; all of them where those are no majority. */
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
