/**
 * What people should look at, although the source goes on (or waits):
 * - `no_endpoint`: none is healthy at present; one that waits for its turn is
 * - `finalized_missing`, `finalized_lagging`: head - 256 stands in for the tag
 * - `finalized_went_back`: a tag fell below what it was; ours stays
 * - `finality_disputed`: endpoints disagree on finalized blocks, without a majority; those that became
 *   unreachable meanwhile count for some minutes
 * - `majority_absent`: fewer than half of the endpoints can be heard; finality waits for the others, or until
 *   they were not heard for minutes
 * - `head_not_believed`: an endpoint claims a head far above those of the others, and is ignored
 * - `head_buffer_full`: finality is so late that no more blocks are taken in
 * - `history_disputed`: a finalized block of ours is denied; a verdict is being sought
 */
export type ChainWarning =
  | "no_endpoint"
  | "finalized_missing"
  | "finalized_lagging"
  | "finalized_went_back"
  | "finality_disputed"
  | "majority_absent"
  | "head_not_believed"
  | "head_buffer_full"
  | "history_disputed";
