/** Every bound of the service in one place, with where the number comes from. */

/** What the store may hold and be asked. */
export const storeLimits = {
  /** An embedded query takes 0.5 to 20 ms: more than this many in line is seconds of waiting. */
  queriesWaitingMax: 256,
  /** Blocks above finality held in memory: finality 15 minutes late (seen once) at 1.5 s a block. */
  tailBlocksMax: 4096,
  /** Newest markers whose row counts are compared with the tables at start. */
  markersVerifiedMax: 64,
} as const;

const mebibyte = 1024 * 1024;

/** What `chain/` asks of nodes, believes of them, and holds for its consumer. */
export const chainLimits = {
  /** A node that has not answered by then is treated as gone. */
  requestTimeoutMs: 10_000,
  /** At the head, waiting costs more than asking another node; doubled up to the above. */
  tailTimeoutMs: 2_000,
  /** A larger answer is refused: one answer must not fill the memory. */
  responseBytesMax: 64 * mebibyte,
  /** Ranges stop growing here: parsing one answer should not take much longer than 20 ms. */
  responseBytesGoal: 8 * mebibyte,
  /** Ranges are halved here: several answers of this size are in memory at once. */
  responseBytesHalve: 16 * mebibyte,
  /** Open requests of one endpoint; the source itself needs fewer than this. */
  concurrentRequestsMax: 16,
  /** Providers refuse much larger batches. */
  headersPerBatchMax: 100,
  /** The smallest of the usual caps of paid plans is 1,000 blocks; half of it is safe to begin. */
  rangeBlocksStart: 500,
  /** Where nothing is logged an answer is small at any range; this keeps progress visible. */
  rangeBlocksMax: 50_000,
  /** After this time a learnt cap is tried again: plans and nodes change. */
  rangeCapKeptMs: 3_600_000,
  /** Ranges fetched ahead of the consumer, and what they may hold together, as estimated. */
  prefetchRangesMax: 3,
  prefetchBytesMax: 64 * mebibyte,
  /** Unfinalised blocks followed: half an hour at 1.75 s; above it the source awaits finality. */
  tailBlocksMax: 1_024,
  /** Blocks asked at once above finality, when behind the head. */
  tailBatchBlocksMax: 16,
  /** A `finalized` tag further behind the head is not believed; head less this takes its place. */
  finalityLagBlocksMax: 256,
  /** An endpoint further behind the best head has no say in finality. */
  endpointLagBlocksMax: 64,
  /** Block times without a new head after which a socket or an endpoint has stalled. */
  stallBlockTimes: 5,
  /** How often the head is asked for: a quarter of the block time, within these. */
  pollMsMin: 100,
  pollMsMax: 1_000,
  /** The same for endpoints that announce heads or are second choice: the block time, up to this. */
  slowPollMsMax: 5_000,
  /** `Retry-After` is honoured up to this; longer means a plan that ran out. */
  retryAfterMsMax: 300_000,
  /** Characters kept of a provider's error text. */
  errorTextMax: 300,
  /** Rounds of unanimous denial before a finalised block is given up. */
  historyDenialsMin: 3,
  /** How long endpoints that do not answer can hold up that verdict. */
  historyVerdictMsMax: 120_000,
} as const;

/** Pauses between rounds over the endpoints: short, as the next one is usually another. */
export const chainBackoff = { firstMs: 25, maxMs: 2_000 } as const;

/** How long an endpoint that failed is left alone before it is probed. */
export const breakerBackoff = { firstMs: 250, maxMs: 10_000 } as const;
