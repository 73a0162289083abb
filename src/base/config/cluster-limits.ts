/** The bounds of what only the roles of a cluster use. */

const mebibyte = 1024 * 1024;

/** What Redis may be asked, by the roles of a cluster. */
export const redisLimits = {
  connectTimeoutMs: 2_000,
  /** An answer takes a millisecond; a request that needs one is better refused than kept waiting. */
  commandTimeoutMs: 1_000,
  /** Commands under way: at 20 us each, 200 ms of waiting. */
  commandsWaitingMax: 10_000,
  /** A connection without a byte for so long is replaced; pings see to it that there are some. */
  silenceMsMax: 5_000,
  pingIntervalMs: 1_000,
  reconnectBackoff: { firstMs: 50, maxMs: 1_000 },
} as const;

/** The feed between the active indexer and the serving nodes. */
export const feedLimits = {
  /** Four hours of Polygon with a status every second; a node needs what is not final yet, some minutes of it. */
  messagesKept: 20_000,
  /** At 6 KB a block of 60 fills, never more than Redis should hold of it. */
  messagesReadMax: 256,
  /** Unpacked: a block of 100,000 fills. */
  messageBytesMax: 32 * mebibyte,
  /** The active indexer renews its lease this often; without a renewal for so long another one takes over. */
  leaseRenewMs: 1_000,
  leaseMs: 4_000,
  statusEveryMs: 1_000,
  /** A read waits so long for a message; a status comes sooner. */
  readWaitMs: 2_000,
  /** Until the feed is asked again after an error. */
  retryMs: 500,
  /** How often the store is asked for commits that the feed has not announced. */
  coverageEveryMs: 2_000,
  /** How soon again, while a commit that was announced is not there yet. */
  coverageRetryMs: 100,
  /** A feed without a message for so long is stale. */
  staleMs: 10_000,
  /** Messages that wait for Redis: more are given up, and all unfinalized blocks sent again later. */
  messagesWaitingMax: 4_096,
} as const;

/** Market metadata that the active indexer writes and serving nodes read. */
export const clusterMetadataLimits = {
  /** Rows of a page, of some KB each. */
  rowsReadMax: 1_000,
  readEveryMs: 2_000,
  /** Read again: the clocks of two indexers differ, and replicas are late. */
  overlapMs: 10_000,
  /** Read again after a restart or a reorg, which lose what came with unfinalized blocks: longer than those are. */
  unfinalizedMs: 600_000,
} as const;
