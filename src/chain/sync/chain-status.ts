import type { BlockRef } from "../raw-log.ts";
import type { BreakerState } from "../rpc/breaker.ts";

/** How one endpoint does, for metrics and people. Counts are since the start. */
export type EndpointStatus = {
  /** Host and port; endpoints that share them get `#2` and so on. Never the URL. */
  readonly host: string;
  readonly requests: number;
  readonly calls: number;
  readonly errors: number;
  /** Answers refused because of the rate; not errors. */
  readonly rateLimited: number;
  /** Answers that contradicted themselves, another endpoint or the chain. */
  readonly badAnswers: number;
  /** Sliding average of small requests; `null` before the first. */
  readonly latencyMs: number | null;
  readonly breaker: BreakerState;
  /** The learnt rate; `null` while no limit is known. */
  readonly callsPerSecond: number | null;
  /** Blocks per request at present, and the provider's cap on them if it named one. */
  readonly rangeBlocks: number;
  readonly rangeBlocksCap: number | null;
  readonly head: number | null;
  /** `false` while it is ignored because its head is far above those of the others. */
  readonly isHeadBelieved: boolean;
  readonly lastError: string | null;
};

/**
 * What people should look at, although the source goes on (or waits):
 * - `no_endpoint`: none can be used at present
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

/** The progress of the chain source. */
export type ChainStatus = {
  /** The highest believed head of an endpoint, with its time in unix seconds. */
  readonly head: (BlockRef & { readonly timestamp: number }) | null;
  readonly finalized: BlockRef | null;
  readonly reorgs: number;
  /** The most blocks one reorganization reverted. */
  readonly deepestReorg: number;
  /** Blooms that seemed to contain more of our logs than receipts then showed. */
  readonly bloomFalsePositives: number;
  readonly warnings: readonly ChainWarning[];
  readonly endpoints: readonly EndpointStatus[];
};
