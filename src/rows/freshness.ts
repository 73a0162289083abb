/** How far the service is, as `meta` of REST answers and heartbeats report; `null` until the first block is indexed. */
export type Freshness = {
  readonly indexed_block: number | null;
  readonly indexed_seq: number | null;
  readonly head_block: number | null;
  readonly finalized_block: number | null;
  /** Of chain time, behind the head. */
  readonly lag_seconds: number | null;
};
