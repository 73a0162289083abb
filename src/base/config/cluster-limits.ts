/** Bounds that only the roles of a cluster use, each with the source of its number. */

const mebibyte = 1024 * 1024;

/** Bounds on the connection to Redis. */
export const redisLimits = {
  connectTimeoutMs: 2_000,
  /** An answer takes a millisecond. It is better to refuse a request that needs one than to let it wait longer. */
  commandTimeoutMs: 1_000,
  /** Commands in progress: a wait of 200 ms at 20 us each. */
  commandsWaitingMax: 10_000,
  /** A connection that receives nothing for this long is replaced. Pings keep a healthy one from being silent. */
  silenceMsMax: 5_000,
  /** How often connections that lead to the wrong server are replaced at most. */
  wrongServerMsMin: 1_000,
  /** How long the same warning about a connection is not repeated. */
  sameWarningMs: 60_000,
  pingIntervalMs: 1_000,
  reconnectBackoff: { firstMs: 50, maxMs: 1_000 },
} as const;

/** Bounds on how the clocks of a cluster are compared. */
export const clockLimits = {
  /** By how much the clock of this machine can differ from a server's without a warning. */
  offsetMsMax: 2_000,
  /** The longest round trip whose answer replaces an earlier comparison. */
  roundTripMsMax: 500,
} as const;

/** Bounds on the feed between the active indexer and the serving nodes. */
export const feedLimits = {
  /** Messages in the feed: four hours of Polygon, with a status every second. A node needs the last few minutes. */
  messagesMax: 20_000,
  /** Messages of one read. A block of 60 fills has 6 KB. */
  messagesReadMax: 256,
  /** The uncompressed size of a message: a block of 50,000 fills. */
  messageBytesMax: 32 * mebibyte,
  /** How often the active indexer renews its lease, and how long after a renewal another one takes over. */
  leaseRenewMs: 1_000,
  leaseMs: 4_000,
  /** A lease with more time left is not one of an indexer, of any version. */
  leaseMsMax: 60_000,
  /** How long the chain check of an indexer fails before another one can take its lease. */
  unfitChainMs: 10_000,
  /** The same while blocks do not become final, or the store refuses rows: the other one may have the same trouble. */
  unfitOtherMs: 60_000,
  /** How long an indexer has seen new blocks before it replaces an unfit one: two renewals, which may say that it is fit. */
  replaceAfterMs: 2_500,
  statusEveryMs: 1_000,
  /** How long a read waits for a message. A status arrives sooner. */
  readWaitMs: 2_000,
  /** How long to wait after an error before reading the feed again. */
  retryMs: 500,
  /** How often the store is checked for commits that the feed has not announced. */
  coverageEveryMs: 2_000,
  /** How often it is checked while an announced commit is not visible yet. */
  coverageRetryMs: 100,
  /**
   * How long a block of the feed waits for the announced commit of its parent. Then it counts as a gap. Less than
   * `headStaleMs`, because no status is read meanwhile.
   */
  commitWaitMs: 5_000,
  /** Messages that wait for Redis. With more, all are dropped, and a new term sends the blocks that the feed lacks. */
  messagesWaitingMax: 4_096,
} as const;

/** Bounds on market metadata, which the active indexer writes and serving nodes read. */
export const clusterMetadataLimits = {
  /** Rows of a page, each of several KB. */
  rowsReadMax: 1_000,
  readEveryMs: 2_000,
  /** How far back each read starts, because the clocks of two indexers differ and replicas are late. */
  overlapMs: 10_000,
  /** How far back a read starts after a restart or a reorg: further than unfinalized blocks, whose metadata is lost. */
  unfinalizedMs: 600_000,
} as const;
