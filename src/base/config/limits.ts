/** All bounds of the service, each with the source of its number. */

const mebibyte = 1024 * 1024;

/** Bounds on the store, on queries to it, and on the views of its facts. */
export const storeLimits = {
  /** Queries that wait for a connection. An embedded query takes 0.5 to 20 ms, so more would wait for seconds. */
  queriesWaitingMax: 256,
  /** Concurrent queries. More than the number of cores gains nothing, and each occupies a thread of Node's pool. */
  readersMax: 2,
  /** Connections that write: while one waits for the disk, the other one works. */
  writersMax: 2,
  /** Unfinalized blocks in memory: four times as many as the chain source emits before it waits for finality. */
  headBufferBlocksMax: 4096,
  /**
   * Blocks that one durable row of the reorg log covers after its own. One block in 129 waits for the disk, so the p99
   * does not include the wait. After a restart, clients replay up to this many blocks more: four minutes of Polygon.
   */
  servableBlocksAhead: 128,
  /** How many blocks another node can be ahead of this one, which can be cut off from the chain: a day of Polygon. */
  aheadBlocksMax: 43_200,
  /** How long a request waits for a position that its client saw on another node, and its `Retry-After`: a block. */
  positionWaitMs: 2_000,
  positionRetrySeconds: 2,
  /** Requests and streams that wait for a position at the same time. Every block checks each of them. */
  positionWaitersMax: 2_000,
  /** Reorgs kept in memory: a year at 27 a day, in 1 MB. */
  reorgsRemembered: 10_000,
  /** The most blocks that a client of the stream replays after a repair of stored blocks: a day of Polygon. */
  repairReplayBlocksMax: 43_200,
  /** The newest commit records whose rows a start counts, and about how many rows. Counting takes tens of ms. */
  commitsVerifiedMax: 64,
  rowsVerifiedMax: 1_000_000,
  /** Free disk space without which the engine is not started. */
  startBytesFreeMin: mebibyte,
  /** Files that can still be opened, without which it is not started either. An empty store opens about 70. */
  startFilesMin: 128,
  /** Free disk space that deleting rows needs besides a copy of the largest part. An insert reserves at least 1 MiB. */
  trimBytesFreeMin: 8 * mebibyte,
  /** The size of the pieces in which the rows of an insert are read from the spool file, to send them to a server. */
  spoolReadBytes: mebibyte,
  /** How often the engine is asked whether its merges or mutations have ended. */
  mutationsPollMs: 20,
  /** How long an append waits for a server that is down. Then the process exits, and its next start tries again. */
  outageMsMax: 600_000,
  /** Rows that are appended together, if so many are ready. The engine needs about 150 MB for them. */
  groupRows: 100_000,
  /** Ranges that are appended together. They can be empty: a node sends one in 1 ms, while an append takes 50 ms. */
  groupBatchesMax: 256,
  /** How long fewer rows wait for more. At full speed, a full group arrives in less time. */
  groupWaitMs: 1000,
  /** How long the size of the store is cached: reading it takes 30 ms. */
  sizeKeptMs: 10_000,
  /** How soon the size is read again after a failure, so that readiness returns soon after a server does. */
  sizeRetryMs: 1_000,
  /** How long readiness and metrics wait for the size. Balancers and Prometheus do not wait for long. */
  sizeWaitMs: 5_000,
  /** Places in the cache of token ids: several times the tokens traded in a day; 20 MB at 150 bytes each. */
  tokenTextSlots: 131_072,
  /** Fills returned with one order. The largest orders seen have a few hundred. */
  orderFillsMax: 10_000,
  /** How often the copy of the markets is saved. After a crash, a start reads the facts since the last save. */
  marketsSavedMs: 30_000,
  /** The shortest time from a start to the first save, and between saves when there are many changes. */
  marketsSavedMsMin: 5_000,
  /** Unsaved values that make a save due early. A start makes up for so many in half a second. */
  marketsUnsavedMax: 50_000,
  /** The largest share of time spent on saving, which blocks the thread that answers requests. */
  marketsSaveShare: 0.03,
  /** Saves of up to so many values copy their log into the file in the same turn: about 10 MB, 20 ms. */
  marketsSmallSave: 1000,
  /** A longer log is copied into the file in the same turn even if that takes a second, because disks are finite. */
  marketsLogBytesMax: 1024 * 1024 * 1024,
  /** How long to wait for a process that reads the log after a crash: one or two seconds per gigabyte. */
  marketsLockedMs: 5_000,
  /** Values per kind in each of two cached generations; a text has some kilobytes. One more would double the map. */
  tableCachedMax: 8192,
  /** Values of one kind that wait to be written. A save has to write them all, at 5 us each. */
  tableUnwrittenMax: 4096,
  /** Values that wait while a state is loading. They are written together, so that many share the write of a page. */
  tableLoadedMax: 32_768,
  /** Values written when too many wait: together they cost less than one by one, and cause no noticeable pause. */
  tableWriteBatch: 64,
} as const;

/** Bounds on requests to a ClickHouse server. */
export const serverLimits = {
  /** Time from the announcement of a repair to its start. Readers check every 2 s, and stop when they see it. */
  repairNoticeMs: 5_000,
  /** Concurrent statements. A server has its own cores, and should keep some for others. */
  readersMax: 8,
  writersMax: 4,
  /** A page takes a few ms; all totals of a full store take several seconds. */
  queryTimeoutMs: 60_000,
  /** An insert takes at most a second; a mutation of whole parts takes minutes. */
  writeTimeoutMs: 600_000,
  /** How long a process waits for its statements once it is asked to stop. Orchestrators kill after 30 s. */
  stopMsMax: 25_000,
  /** Attempts per request: the server can close an idle connection just when it is reused. Callers retry longer. */
  attemptsMax: 3,
  retryDelayMs: 100,
  /** Rows of commits that a reader processes together: two full appends. A single commit can have more. */
  followedRowsMax: 200_000,
  /** How often an append that waits for a server tries again. */
  outageRetryMs: 500,
  /** How long a start waits for replicas that are behind: twice `replicaDelaySecondsMax`. */
  replicaWaitMsMax: 60_000,
  /** A replica further behind is considered broken: parts usually arrive within a second. */
  replicaDelaySecondsMax: 30,
  /** How often a writer checks whether a replica has the inserted rows. */
  replicaPollMs: 200,
  /** Clocks further apart are a mistake: times in people's queries would be wrong. */
  clockDifferenceMs: 5_000,
} as const;

/** Bounds on the keys and rate limits that the nodes of a cluster share. */
export const accessLimits = {
  /** How long a node uses its keys without confirmation. */
  validityMs: 3_000,
  /** How often a node confirms that it has the newest version. */
  renewMs: 1_000,
  /** How long a revocation takes: the validity of a node that has not heard of it, and a turn of a busy process. */
  confirmWaitMs: 3_500,
  confirmPollMs: 20,
  /** Each interruption of Redis restarts the wait of a revocation. After this time the caller gets 503. */
  confirmTimeoutMs: 15_000,
  /** Queries of the log take a few ms. A later answer is useless, because it is older than `validityMs`. */
  queryTimeoutMs: 10_000,
  /** Attempts to append a change. Few writers compete: one or two administrators. */
  appendAttemptsMax: 20,
  /** Rows of the log. Every node holds all of them in memory, at about 400 bytes each. */
  keyChangesMax: 250_000,
  nodesMax: 1_000,
  /** Callers in one script call. Each takes 2 us, during which Redis does nothing else. */
  windowBatchMax: 256,
  /** Changes to IP blocks in one command. Redis does nothing else for the 10 ms that it takes. */
  ipChangesBatchMax: 5_000,
} as const;

/** Bounds on the search of markets. */
export const marketLimits = {
  /** Different words of a search. Questions of markets have about ten, and 200 characters rarely contain more. */
  searchWordsMax: 32,
  /** Markets whose trades one request can select by slug, event or category: a query of 3 MB names their tokens. */
  selectedMarketsMax: 5_000,
  /** Markets whose candles one request of totals can add up, in queries of `selectedMarketsMax`. */
  statsMarketsMax: 50_000,
} as const;

/** Bounds on requests to nodes, on trust in their answers, and on data that `chain/` holds for its consumer. */
export const chainLimits = {
  /** Messages with changes that the chain thread can be ahead of the store. Each has at most one range. */
  changesAheadMax: 4,
  /** The young generation of the chain thread. Parsing makes 1 GB of garbage a second; small collections take 1/5. */
  threadYoungMegabytes: 48,
  /** A node that has not answered by then counts as unavailable. */
  requestTimeoutMs: 10_000,
  /** At the head, waiting costs more than asking another node. Doubles up to `requestTimeoutMs`. */
  headTimeoutMs: 2_000,
  /** Larger answers are refused, because one answer must not fill the memory. */
  responseBytesMax: 64 * mebibyte,
  /** Ranges stop growing at this size. Answers four times as large exceed the young generation and take 10% longer. */
  responseBytesGoal: 2 * mebibyte,
  responseBytesHalve: 3 * mebibyte,
  /** Attempts for a request that is part of larger work: if one in five fails, one in 125 fails all attempts. */
  requestTriesMax: 3,
  /** Concurrent requests to one endpoint. The chain source itself needs fewer. */
  concurrentRequestsMax: 16,
  /** Headers in one batch. Providers refuse much larger batches. */
  headersPerBatchMax: 100,
  /** Concurrent requests that calls are split into, if an endpoint accepts only small batches or none. */
  partsAtOnceMax: 8,
  /** The first size of ranges. Six ranges are requested before the size of blocks is known; busy ones have 60 KB. */
  rangeBlocksStart: 50,
  /** The largest range. Without logs an answer is small at any size, but progress must remain visible. */
  rangeBlocksMax: 50_000,
  /** Failed ranges remembered until they are answered: several times the number of concurrent ranges. */
  failedRangesMax: 64,
  /** A learned cap is tested again after this time, because plans and nodes change. */
  capKeptMs: 3_600_000,
  /** Ranges fetched ahead of the consumer, and the same while the first of them is late. */
  prefetchRangesMax: 6,
  prefetchLateRangesMax: 256,
  /** Late ranges that do not count as being fetched. With `prefetchRangesMax` they fit into `concurrentRequestsMax`. */
  overtakenRangesMax: 8,
  /** The estimated size of all ranges fetched ahead. */
  prefetchBytesMax: 64 * mebibyte,
  /** Unfinalized blocks that the source follows before it waits for finality: half an hour at 1.75 s a block. */
  headBufferBlocksMax: 1_024,
  /** Unfinalized blocks in one request, when behind the head. */
  headBatchBlocksMax: 16,
  /** A `finalized` tag further behind the head is not believed. The head minus this replaces it. */
  finalityLagBlocksMax: 256,
  /** Newest blocks, whose logs a node may not have indexed yet. The bloom of each is checked. */
  youngBlocks: 256,
  /** A bloom with up to so many bits has about 25 logs. In one of ten blocks it matches our filter by chance. */
  sparseBloomBitsMax: 256,
  /** The share of ranges in which the time of one log is compared with its block's header, which takes a request. */
  sampledRangesShare: 1 / 8,
  /** Blocks whose logs are proven at the same time. Each takes a request for up to several megabytes. */
  proofsAtOnceMax: 4,
  /** How far the time of a block may be ahead of our clock. Nodes allow each other seconds; this machine's can be off. */
  aheadSecondsMax: 900,
  /** How far heads of honest endpoints differ from their median. One further above it is not believed. */
  endpointLagBlocksMax: 64,
  /** How long the head of a silent endpoint counts among those that are compared. */
  endpointAbsenceMsMax: 120_000,
  /** How long an endpoint that is silent or behind counts in a majority on finality, if the operator lets it end. */
  finalityAbsenceMsMax: 600_000,
  /** Block times without a new head after which a socket or an endpoint counts as stalled. */
  stallBlockTimes: 5,
  /** An endpoint that answers so long after it closed a socket no longer closes its sockets: twice the longest pause. */
  socketKeptMs: 20_000,
  /** How often the head is polled: every quarter of the block time, within these bounds. */
  pollMsMin: 100,
  pollMsMax: 1_000,
  /** How often endpoints that announce heads or are second choice are polled: every block time, up to this. */
  slowPollMsMax: 5_000,
  /** An endpoint that is paused for longer after a refusal is skipped. */
  pauseMsMax: 1_000,
  /** `Retry-After` is honored up to this. A longer one means that the quota of a plan is used up. */
  retryAfterMsMax: 300_000,
  /** Characters kept of a provider's error text. */
  errorTextMax: 300,
  /** How long the heads of all endpoints can be below our last final block before the service is not ready. */
  headBelowFinalMsMax: 10_000,
  /** Rounds in which a majority of all endpoints must deny a finalized block before indexing stops. */
  historyDenialsMin: 3,
} as const;

/** Bounds on the audit, which slowly reads stored blocks from the chain again. */
export const auditLimits = {
  /** Blocks of one audit: a small query even at 100 fills a block, and a range that every plan allows. */
  rangeBlocks: 100,
  /** With more new ranges than this, an hour and a half of blocks, the audit starts again at the newest. */
  rangesBehindMax: 40,
  /** The assumed cost of an audit before the first is measured, in calls: two endpoints, three calls each. */
  callsExpected: 6,
  /** Attempts at a range before the next one. */
  triesMax: 3,
  /** Unproven mismatches are compared again after this. With the reading that is within a minute. */
  mismatchKeptMs: 45_000,
  /** How long repairs are collected, and how many, before one restart performs them. */
  repairGatherMs: 10_000,
  repairsAtOnceMax: 16,
  /** Blocks that differ again within this time after a repair need the attention of an operator. */
  repairTrustedMs: 86_400_000,
  /** How long to wait when there is nothing to audit, or when the engine is overloaded. */
  idleMs: 5_000,
  /** Findings that are kept. There is one for each range that was wrong. */
  findingsMax: 1_000,
  /** Attempts of a command to ask nodes that do not answer, and the pause between them: about a minute in total. */
  commandTriesMax: 60,
  commandPauseMs: 1_000,
  /** Differences listed in a log line and in a finding. */
  differencesNamedMax: 5,
} as const;

/** Pauses between rounds over all endpoints. They are short, because the next round usually starts with another one. */
export const chainBackoff = { firstMs: 25, maxMs: 2_000 } as const;

/** How soon, and then at least how often, the log reports that no endpoint answers. */
export const outageBackoff = { firstMs: 10_000, maxMs: 600_000 } as const;

/**
 * Consecutive failures after which an endpoint is paused, and for how long: of its requests, of its sockets, and of its
 * data.
 */
export const breakers = {
  link: { failuresMax: 3, backoff: { firstMs: 250, maxMs: 10_000 } },
  socket: { failuresMax: 3, backoff: { firstMs: 250, maxMs: 10_000 } },
  data: { failuresMax: 1, backoff: { firstMs: 100, maxMs: 3_000 } },
} as const;

/** Bounds on the cost of one caller, and of all callers together, of the HTTP service. */
export const webLimits = {
  /** Lists kept for paging. A list of all 1.5 million markets has 15 MB, most of which several lists share. */
  listSnapshotBytesMax: 192 * mebibyte,
  /** The age of a list since its first page. Readers take seconds a page; slower ones continue in a newer list. */
  listSnapshotMaxAgeMs: 10 * 60_000,
  /** Cached responses: 600 pages of 100 trades, or 80,000 prices. */
  cachedResponseBytesMax: 128 * mebibyte,
  /** Keys in each of the two generations of `RecentRequests`: 5 MB. */
  recentRequestsMax: 10_000,
  /** The default limits of keys by scope, fixed by the specification. */
  keyRequestsPerMinute: { read: 1000, write: 2000, admin: 5000 },
  /** The limit of callers without a key, fixed by the specification. */
  ipRequestsPerMinute: 100,
  /** Preflights of one IP. Browsers send them before requests: enough for ten read keys at their limit. */
  preflightsPerMinute: 10_000,
  /** Upgrades of one IP to the stream whose key follows in a frame: as many as a read key can open with a header. */
  upgradesPerMinute: 1000,
  /** Files that pages of one IP load: ten for each page that its limit admits, as a page of the guide has. */
  filesPerMinute: 1000,
  /** Windows of IPs, and of their preflights, upgrades and files: 80 MB for 100,000 addresses with 100 timestamps of 8 bytes each. */
  ipWindow: { windowMs: 60_000, entriesMax: 200_000 },
  /** Active keys. Reading all of them again takes less than 100 ms. */
  activeKeysMax: 10_000,
  /** Twice the active keys in each of two generations, so that no key in use is forgotten. */
  keyWindow: { windowMs: 60_000, entriesMax: 40_000 },
  /** Ranges in `allowed_ips`. An office or a cluster has a few. */
  allowedIpsMax: 64,
  /** The window in which failed authentications and abuse of an IP are counted. */
  offenseWindow: { windowMs: 5 * 60_000, entriesMax: 200_000 },
  /** Malformed requests and requests over the IP limit in that window: 200 a minute for five minutes. */
  ipAbuseMax: 1000,
  /** The first block. Each further one is twice as long. */
  ipBlockFirstMs: 15 * 60_000,
  /** The longest block, and how long after its end a block still doubles the next one. */
  ipBlockMaxMs: 24 * 60 * 60_000,
  /** IP blocks kept, in memory and on disk: 20 MB at 200 bytes each. */
  ipBlocksMax: 100_000,
  /** How often the use of keys and IP blocks are written, so that a flood costs one fsync. */
  accessFlushMs: 5000,
  /** A change by the command line, which waits, is in force after this; for open sockets, which send nothing, `accessFollowMs`. */
  accessRecheckMs: 20,
  accessFollowMs: 250,
  /** Node's default. A request line with 100 token ids takes half of it. */
  headerBytesMax: 16 * 1024,
  /** Bodies have a few short fields. */
  bodyBytesMax: 16 * 1024,
  /** Stops slow senders. From all other clients, headers arrive in one round trip. */
  headersTimeoutMs: 5000,
  requestTimeoutMs: 10_000,
  /** By default. More than the 60 s for which common load balancers keep idle connections. */
  keepAliveSeconds: 65,
  /** A client that reads none of its answer for this long counts as gone. */
  socketIdleTimeoutMs: 120_000,
  /** Sockets of HTTP and the stream: 150 MB at 15 KiB each. */
  connectionsMax: 10_000,
  /** How long a shutdown waits for requests in flight. Orchestrators kill after 30 s. */
  drainTimeoutMs: 10_000,
  /** How long a shutdown waits for requests in transit on silent connections: several round trips. */
  silentDrainMs: 1_000,
  /** How often a shutdown closes connections that have become idle. */
  idleSweepMs: 100,
  /** Wrong parameters reported in one answer, so that a caller cannot make the answer large. */
  errorDetailsMax: 20,
  /** Rows of a page. A file with more rows is an export. */
  pageRowsMax: 1_000,
  /** Concurrent reads of many candles or of categories, of 50 ms each, and how many more wait: the engine has two readers. */
  heavyReadsMax: 2,
  heavyReadsWaitingMax: 32,
  /** Concurrent exports of all callers. Each holds two chunks of up to 35 MB, and uses up to a core. */
  exportsMax: 8,
  /** Concurrent exports of one key: less than half of `exportsMax`, so that two keys cannot take all. */
  exportsPerKeyMax: 3,
  /** The bytes of an export that a client must read in every `exportBytesMinMs`, or it is aborted: 140 kbit/s. */
  exportBytesMin: mebibyte,
  exportBytesMinMs: 60_000,
  /** Rows read together. Parsing them takes one turn of the main thread, at 8 us a row. */
  exportChunkRows: 1_000,
  /** Rows of a row group of a columnar file: 50 MB while it is encoded. Smaller groups make files slow to read. */
  exportGroupRows: 16_384,
  /** Rows that the engine encodes together: 34 MB. A frame takes a tenth longer with half as many (`bench/clients`). */
  exportEncodedRows: 32_768,
  /** A cursor contains a position and a signature: about 120 characters. */
  cursorLengthMax: 512,
} as const;

/** Bounds on the cost of one client, and of all clients together, of the stream. */
export const streamLimits = {
  /** How long a client can take to authenticate, fixed by the API: browsers cannot send headers, so a frame follows. */
  authenticateMs: 10_000,
  heartbeatMs: 15_000,
  /** How often bounds on time are checked; they are all in seconds. */
  tickMs: 1_000,
  pingMs: 25_000,
  unansweredPingsMax: 2,
  batchMs: 50,
  framesPerSecond: 20,
  /** The time in which they are counted: less than a second, because the network delays some frames more than others. */
  framesWindowMs: 800,
  frameBytesMax: 64 * 1024,
  /** Invalid frames in `faultWindowMs` after which the client is considered broken. */
  faultsMax: 5,
  faultWindowMs: 10_000,
  snapshotRowsMax: 500,
  tokensPerChannelMax: 500,
  /** Tokens of all subscriptions of a connection. 450,000 of one key on `price` delayed requests by 0.6 to 3.2 s. */
  tokensPerConnectionMax: 10_000,
  /** The length of a frame's id, which a client uses to match answers to its frames. It is returned unchanged. */
  frameIdLengthMax: 64,
  /** Events in one array: a message of 330 KB at 1.3 KB each, which common clients accept. */
  batchEventsMax: 256,
  /** 5,000 events, a minute of the busiest hour seen. A client further behind must read history. */
  queueBytesMax: 8 * mebibyte,
  queueAgeMsMax: 30_000,
  /** Rows of one read: 1.3 MB of frames. Fewer cost more per row; more survive into garbage collections of 70 ms. */
  historyRowsPerPage: 1_000,
  /** Rows of a page that are framed and sent in one turn: about 2 ms, or 6 ms with compression. */
  historyRowsPerSlice: 128,
  /** Reads of history at the same time: enough for all connections of the store, and few before other queries. */
  historyReadsAtOnceMax: 8,
  /** Pages shared by clients that read the same history: up to 5 MB each. */
  historyPagesKept: 8,
  /** How long a client can take to answer a close: when the service stops, and otherwise, with much left to read. */
  closeMs: 2_000,
  closePatienceMs: 30_000,
} as const;
