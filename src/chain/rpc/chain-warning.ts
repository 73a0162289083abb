/**
 * A condition that needs the operator's attention while the source continues or waits:
 * - `no_endpoint`: no endpoint is healthy now; one that only asked for a pause is
 * - `finalized_missing`, `finalized_lagging`: head - 256 replaces the `finalized` tag
 * - `finalized_went_back`: a `finalized` tag decreased; our finalized block stays
 * - `finality_disputed`: endpoints disagree on final blocks without a majority
 * - `majority_absent`: finality waits, because the endpoints that respond and follow the head are no majority of all
 * - `head_not_believed`: an endpoint claims a head far above those of the others and is ignored
 * - `head_below_final`: the heads of all endpoints are below our last final block, so nothing can be followed
 * - `head_buffer_full`: finality is so late that no more blocks are taken in
 * - `history_disputed`: an endpoint denies a finalized block of ours, and the check is not over yet
 */
export type ChainWarning =
  | "no_endpoint"
  | "finalized_missing"
  | "finalized_lagging"
  | "finalized_went_back"
  | "finality_disputed"
  | "majority_absent"
  | "head_not_believed"
  | "head_below_final"
  | "head_buffer_full"
  | "history_disputed";
