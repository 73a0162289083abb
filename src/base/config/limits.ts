/** Every bound of the service in one place, with where the number comes from. */

const mebibyte = 1024 * 1024;

/** What the store may hold and be asked. */
export const storeLimits = {
  /** An embedded query takes 0.5 to 20 ms: more than this many in line is seconds of waiting. */
  queriesWaitingMax: 256,
  /** Queries at the same time: more than the cores gain nothing, and each has a thread of Node's pool. */
  readersMax: 2,
  /** Connections that write: while one waits for the disk, the other one has something to do. */
  writersMax: 2,
  /** Blocks above finality held in memory: four times as many as the chain source emits before it waits. */
  headBufferBlocksMax: 4096,
  /**
   * Blocks that may be served after the one that waited for the disk: with one block in 129 the wait is outside
   * of the p99. After a restart clients replay as many blocks more: four minutes of Polygon.
   */
  servableBlocksAhead: 128,
  /** Blocks that another node may be ahead of this one, which may be cut off from the chain: a day of Polygon. */
  aheadBlocksMax: 43_200,
  /** How long a request waits for a position that its client has seen on another node, and when to ask again: a block later. */
  positionWaitMs: 2_000,
  positionRetrySeconds: 2,
  /** Requests and streams that wait so at the same time: each is looked at with every block. */
  positionWaitersMax: 2_000,
  /** Reorgs that are kept in memory: a year of 27 a day, in 1 MB. */
  reorgsRemembered: 10_000,
  /** Blocks that a client of the stream replays at most because stored blocks were repaired: a day of Polygon. */
  repairReplayBlocksMax: 43_200,
  /** Newest commit records whose rows a start counts in the tables; and about how many rows: tens of ms. */
  commitsVerifiedMax: 64,
  rowsVerifiedMax: 1_000_000,
  /** Room to revert what a crash left half written; an insert reserves 1 MiB at the least. */
  trimBytesFreeMin: 8 * mebibyte,
  /** Rows of an insert that are sent to a server are read from their file in pieces of this size. */
  spoolReadBytes: mebibyte,
  /** How often a start looks whether the engine has ended what a crash interrupted. */
  mutationsPollMs: 20,
  /** For how long an append waits for a server that is away; then a start tries again. */
  outageMsMax: 600_000,
  /** Rows appended together where there are as many: the engine takes some 150 MB for as long. */
  groupRows: 100_000,
  /** The same of ranges, which may be empty: an append takes 50 ms, a node 1 ms for a block. */
  groupBatchesMax: 256,
  /** For how long fewer of them wait for more: at full speed as many come in less. */
  groupWaitMs: 1000,
  /** For how long the size is known by what it was: reading it takes 30 ms. */
  sizeKeptMs: 10_000,
  /** How soon it is read again when that failed: readiness is back shortly after a server is. */
  sizeRetryMs: 1_000,
  /** Newest trades kept for lists that are asked for: at 1 KB each 100 MB, 1,000 lists of 100. */
  newestFillsMax: 100_000,
  /** Newest candles kept for charts that are asked for: at 400 bytes each 80 MB, 400 of 500. */
  newestCandlesMax: 200_000,
  /** Places for texts of token ids: some times what is traded in a day; at 150 bytes each 20 MB. */
  tokenTextPlaces: 131_072,
  /** Lists asked for once, remembered by name until as many others came twice: 5 MB. */
  askedOnceMax: 10_000,
  /** Fills returned with one order; the largest orders seen are filled some hundred times. */
  orderFillsMax: 10_000,
  /** The copy of the markets is saved this often: what a crash costs the next start. */
  marketsSavedMs: 30_000,
  /** No sooner than this after a start, and after the last time when much has come meanwhile. */
  marketsSavedMsMin: 5_000,
  /** Values written since it was saved that are much: a start makes up for them in half a second. */
  marketsUnsavedMax: 50_000,
  /** Saving takes no more of the time than this: it keeps the thread that answers busy. */
  marketsSaveShare: 0.03,
  /** Values and pages a save may have to be brought into the file at the same time: some 10 MB, 20 ms. */
  marketsSmallSave: 1000,
  /** A log of the copy this long is brought in even if that takes a second: the disk has an end. */
  marketsLogBytesMax: 1024 * 1024 * 1024,
  /** Waiting for those who reads its log after a crash, which takes a second or two a gigabyte. */
  marketsLockedMs: 5_000,
  /** Values of one kind remembered next to the copy, twice: a text has some kilobytes. One more would double the map. */
  tableCachedMax: 8192,
  /** Values of one kind that are written later: a save has to write them all, 5 us each. */
  tableUnwrittenMax: 4096,
  /** The same while a state is loaded, all written at the same time: most pages of a table are then written once for several. */
  tableLoadedMax: 32_768,
  /** Written immediately beyond that: together they cost less than one by one, and are no pause. */
  tableWriteBatch: 64,
} as const;

/** What a ClickHouse server is asked. */
export const serverLimits = {
  /** From the announcement of a repair until it begins: readers look every 2 s, and then stop. */
  repairNoticeMs: 5_000,
  /** Statements at the same time: a server has cores of its own, and is to keep some for others. */
  readersMax: 8,
  writersMax: 4,
  /** A page takes some ms, all totals of a full store some seconds. */
  queryTimeoutMs: 60_000,
  /** An insert takes a second at the most, a change of whole parts minutes. */
  writeTimeoutMs: 600_000,
  /** A connection that was idle may be closed while it is used again; more attempts are up to the caller. */
  attemptsMax: 3,
  retryDelayMs: 100,
  /** Rows of commits that a process takes in together, as far as they are in several: two full appends. */
  followedRowsMax: 200_000,
  /** How often what waits for a server asks again. */
  outageRetryMs: 500,
  /** For how long a start waits for replicas that are behind: twice what is out of order. */
  replicaWaitMsMax: 60_000,
  /** A replica further behind is out of order: parts usually arrive within a second. */
  replicaDelaySecondsMax: 30,
  /** How often a writer looks whether a replica has what was inserted. */
  replicaPollMs: 200,
  /** Clocks further apart are a mistake: times in queries of people would be wrong. */
  clockDifferenceMs: 5_000,
} as const;

/** What the nodes of a cluster agree on about who may call. */
export const accessLimits = {
  /** For how long a node acts on what it knows of keys; a revocation waits no longer for one that is cut off. */
  validityMs: 3_000,
  /** How often a node makes sure that it knows the newest version. */
  renewMs: 1_000,
  /** A revocation waits so long for nodes that do not confirm: their validity, and a turn of a busy process. */
  confirmWaitMs: 3_500,
  confirmPollMs: 20,
  /** While Redis comes and goes a revocation starts to wait again; then the caller is asked to. */
  confirmTimeoutMs: 15_000,
  /** Queries of the log take some ms. What they answer is worth nothing after that, whatever they took. */
  queryTimeoutMs: 10_000,
  /** Writers that change keys at the same time: an administrator or two. */
  appendAttemptsMax: 20,
  /** Rows of the log, all of which every node has in memory: some 400 bytes each. */
  keyChangesMax: 250_000,
  nodesMax: 1_000,
  /** Callers that are asked about together: 2 us each, in which Redis does nothing else. */
  windowBatchMax: 256,
} as const;

/** What is known of the chain by heart. */
export const marketLimits = {
  /** Different words of a search; the questions of markets have about ten, and 200 characters seldom more. */
  searchWordsMax: 32,
} as const;

/** What `chain/` asks of nodes, believes of them, and holds for its consumer. */
export const chainLimits = {
  /** Pieces of changes the chain thread may be ahead of what is stored; a range each at the most. */
  changesAheadMax: 4,
  /** Parsing makes garbage at a gigabyte a second; collected in small pieces it costs a fifth. */
  threadYoungMegabytes: 48,
  /** A node that has not answered by then is treated as gone. */
  requestTimeoutMs: 10_000,
  /** At the head, waiting costs more than asking another node; doubled up to the above. */
  headTimeoutMs: 2_000,
  /** A larger answer is refused: one answer must not fill the memory. */
  responseBytesMax: 64 * mebibyte,
  /** Ranges stop growing here: four times as much outgrows the young generation, a tenth more time. */
  responseBytesGoal: 2 * mebibyte,
  responseBytesHalve: 3 * mebibyte,
  /** Attempts for a request that is a part of larger work: where one in five fails, one in 125 is left. */
  requestTriesMax: 3,
  /** Open requests of one endpoint; the source itself needs fewer than this. */
  concurrentRequestsMax: 16,
  /** Providers refuse much larger batches. */
  headersPerBatchMax: 100,
  /** Requests that calls are spread over at the same time where batches are small or not taken. */
  partsAtOnceMax: 8,
  /** Six ranges are asked for before it is known how heavy blocks are; busy ones weigh 60 KB. */
  rangeBlocksStart: 50,
  /** Where nothing is logged an answer is small at any range; this keeps progress visible. */
  rangeBlocksMax: 50_000,
  /** Failed ranges remembered until they are answered: some times as many as are fetched at the same time. */
  failedRangesMax: 64,
  /** After this time a learnt cap is tried again: plans and nodes change. */
  capKeptMs: 3_600_000,
  /** Ranges fetched ahead of the consumer; while one of them is late; and what they hold, as estimated. */
  prefetchRangesMax: 6,
  prefetchLateRangesMax: 256,
  /** Ranges that later ones overtook and that do not count as being fetched. With `prefetchRangesMax` they stay within the 16 requests allowed at the same time. */
  overtakenRangesMax: 8,
  prefetchBytesMax: 64 * mebibyte,
  /** Unfinalized blocks followed: half an hour at 1.75 s; above it the source awaits finality. */
  headBufferBlocksMax: 1_024,
  /** Blocks asked at the same time above finality, when behind the head. */
  headBatchBlocksMax: 16,
  /** A `finalized` tag further behind the head is not believed; head less this takes its place. */
  finalityLagBlocksMax: 256,
  /** Blocks below the head whose logs a node may not have found yet: each is checked by its bloom. */
  youngBlocks: 256,
  /** A bloom of no more bits is of some 25 logs, and in one block of ten has an item of ours by chance. */
  sparseBloomBitsMax: 256,
  /** In this share of the ranges the time of one log is compared with the header of its block: one more request each. */
  sampledRangesShare: 1 / 8,
  /** Blocks whose logs are proven at the same time: each is a request for up to some megabytes. */
  proofsAtOnceMax: 4,
  /** How far honest heads lie from their median; an endpoint further off has no vote on finality. */
  endpointLagBlocksMax: 64,
  /**
   * An endpoint that was not heard for this long no longer counts among those of which half have to agree on
   * what is final. At two seconds a block, endpoints that are left go on by fewer than the 64 blocks above.
   */
  endpointAbsenceMsMax: 120_000,
  /** How long the vote of an endpoint that is unreachable counts in a dispute about final blocks. */
  finalityVoteKeptMs: 600_000,
  /** The same about branches above finality, where a wrong choice is corrected later. */
  branchVoteKeptMs: 120_000,
  /** Block times without a new head after which a socket or an endpoint has stalled. */
  stallBlockTimes: 5,
  /** How often the head is asked for: a quarter of the block time, within these. */
  pollMsMin: 100,
  pollMsMax: 1_000,
  /** The same for endpoints that announce heads or are second choice: the block time, up to this. */
  slowPollMsMax: 5_000,
  /** `Retry-After` is honored up to this; longer means a plan that ran out. */
  retryAfterMsMax: 300_000,
  /** Characters kept of a provider's error text. */
  errorTextMax: 300,
  /** Rounds of unanimous denial before a finalized block is given up. */
  historyDenialsMin: 3,
  /** How long endpoints that do not answer can hold up that verdict. */
  historyVerdictMsMax: 120_000,
} as const;

/** The slow second look at what is stored. */
export const auditLimits = {
  /** Blocks audited at the same time: at 100 fills a block still a small query, and one range of any plan. */
  spanBlocks: 100,
  /** With more new spans than this, an hour and a half of them, the audit starts again at the newest. */
  spansBehindMax: 40,
  /** What an audit costs before the first is over: two endpoints, three calls each. */
  callsExpected: 6,
  /** How often a span is tried before the next one has its turn. */
  triesMax: 3,
  /** Unproven mismatches are compared again after this, which with the reading is within a minute. */
  mismatchKeptMs: 45_000,
  /** How long, and how many, repairs are gathered before one restart carries them out. */
  repairGatherMs: 10_000,
  repairsAtOnceMax: 16,
  /** Blocks that differ again within this after a repair are for people to look at. */
  repairTrustedMs: 86_400_000,
  /** How long to wait when there is nothing to audit, or the engine has too much to do. */
  idleMs: 5_000,
  /** Findings looked through; one for each hundred blocks that were wrong. */
  findingsReadMax: 1_000,
  /** How often and how far apart a command asks nodes that do not answer: for about a minute. */
  commandTriesMax: 60,
  commandPauseMs: 1_000,
  /** Differences named in a log line and in a finding. */
  differencesNamedMax: 5,
} as const;

/** Pauses between rounds over the endpoints: short, as the next one is usually another. */
export const chainBackoff = { firstMs: 25, maxMs: 2_000 } as const;

/** How soon, and how often at the least, it is logged that no endpoint answers. */
export const outageBackoff = { firstMs: 10_000, maxMs: 600_000 } as const;

/** Failures in a row of its wire, or of what it says, until an endpoint is left alone, and for how long. */
export const breakers = {
  link: { failuresMax: 3, backoff: { firstMs: 250, maxMs: 10_000 } },
  data: { failuresMax: 1, backoff: { firstMs: 100, maxMs: 3_000 } },
} as const;

/** What one caller, and all callers together, may cost the HTTP service. */
export const webLimits = {
  /** Lists kept for paging: one of all 1.5 million markets has 15 MB, most of it shared by some. */
  listSnapshotBytesMax: 192 * mebibyte,
  /** Since the first page. Readers of long lists take seconds for each; who takes longer goes on in the list as it is then. */
  listSnapshotMaxAgeMs: 10 * 60_000,
  /** Answers kept as bytes: 700 pages of 100 trades, or 80,000 prices. */
  cachedResponseBytesMax: 128 * mebibyte,
  /** Fixed by the specification, per scope of a key. */
  keyRequestsPerMinute: { read: 1000, write: 2000, admin: 5000 },
  /** Fixed by the specification for callers without a key. */
  ipRequestsPerMinute: 100,
  /** Preflights of one IP, which pages send before their requests: those of ten keys that use their limit up. */
  preflightsPerMinute: 10_000,
  /** Windows of IPs and of their preflights: 100,000 addresses at 100 timestamps of 8 bytes are 80 MB at the very worst. */
  ipWindow: { windowMs: 60_000, entriesMax: 200_000 },
  /** Keys that are not revoked; also keeps reading all of them again under 100 ms. */
  activeKeysMax: 10_000,
  /** Room for every active key twice, in each of two generations, so that none in use is forgotten. */
  keyWindow: { windowMs: 60_000, entriesMax: 40_000 },
  /** Ranges in `allowed_ips`; one office or cluster has a handful. */
  allowedIpsMax: 64,
  /** Failures and refusals of an IP are counted over 5 minutes. */
  offenseWindow: { windowMs: 5 * 60_000, entriesMax: 200_000 },
  /** Malformed requests and ones over the IP limit: 200 a minute too many for five minutes. */
  ipAbuseMax: 1000,
  /** A first block; each further one is twice as long. */
  ipBlockFirstMs: 15 * 60_000,
  /** The longest block, and for how long an ended one still doubles the next. */
  ipBlockMaxMs: 24 * 60 * 60_000,
  /** Blocks held, in memory and on disk: at 200 bytes each 20 MB. */
  ipBlocksMax: 100_000,
  /** Counts of use and blocks of IPs are written this often, so that a flood costs one fsync. */
  accessFlushMs: 5000,
  /** A change by the command line takes effect within this; the command waits for that before it reports success. */
  accessRecheckMs: 20,
  /** The same for sockets that are open, which send no requests. */
  accessFollowMs: 250,
  /** Node's default; a request line of 100 token ids takes half of it. */
  headerBytesMax: 16 * 1024,
  /** Bodies are a handful of short fields. */
  bodyBytesMax: 16 * 1024,
  /** Slow senders: headers arrive in one round trip from everybody else. */
  headersTimeoutMs: 5000,
  requestTimeoutMs: 10_000,
  /** Above the 60 s for which common load balancers keep idle connections. */
  keepAliveTimeoutMs: 65_000,
  /** A client that takes nothing of its answer for this long is gone. */
  socketIdleTimeoutMs: 120_000,
  /** Sockets of HTTP and of the stream; 10,000 at 15 KiB are 150 MB. */
  connectionsMax: 10_000,
  /** For requests in flight at shutdown; orchestrators kill after 30 s. */
  drainTimeoutMs: 10_000,
  /** For a request on its way over a connection that has been silent; some round trips. */
  silentDrainMs: 1_000,
  /** How often connections whose last answer is out are looked for at shutdown. */
  idleSweepMs: 100,
  /** Wrong parameters reported in one answer; more would be an answer made large by the caller. */
  errorDetailsMax: 20,
  /** Rows of a page; with a format, more than that is an export. */
  pageRowsMax: 1_000,
  /** Exports under way, of all callers: each holds two chunks of some MB, and half a core at best. */
  exportsMax: 8,
  /** Exports of one key: below half, so that two keys cannot take all of the above. */
  exportsPerKeyMax: 3,
  /**
   * What a client has to take of an export in each such time, or it is cut: 140 kbit/s, less than any connection
   * that an export is worth asking for.
   */
  exportBytesMin: mebibyte,
  exportBytesMinMs: 60_000,
  /** Rows read at the same time: parsing them is a turn of the main thread, of 8 us each. */
  exportChunkRows: 1_000,
  /** Rows of a group of columns: 30 MB while it is made. Fewer make files slow to read. */
  exportGroupRows: 10_000,
  /** A cursor holds a position and a signature, about 120 characters. */
  cursorLengthMax: 512,
} as const;

/** What one client, and all clients together, may cost the stream. */
export const streamLimits = {
  /** Fixed by the contract: browsers cannot send headers, so they may say later who they are. */
  authenticateMs: 10_000,
  heartbeatMs: 15_000,
  /** Often enough for bounds of seconds. */
  tickMs: 1_000,
  pingMs: 25_000,
  unansweredPingsMax: 2,
  batchMs: 50,
  framesPerSecond: 20,
  frameBytesMax: 64 * 1024,
  /** This many invalid frames in this time are a client that will never get it right. */
  faultsMax: 5,
  faultWindowMs: 10_000,
  snapshotRowsMax: 500,
  tokensPerChannelMax: 500,
  /** Enough for a client to match answers to its frames; returned unchanged. */
  frameIdLengthMax: 64,
  /** Events in one array: at 1.3 KB each a message of 330 KB, which common clients take. */
  batchEventsMax: 256,
  /** 5,000 events, a minute of the busiest hour seen: who is further behind reads them back. */
  queueBytesMax: 8 * mebibyte,
  queueAgeMsMax: 30_000,
  /** Rows of one read: 1.3 MB of frames. Fewer cost more a row; more live long enough for collections of 70 ms. */
  historyRowsPerPage: 1_000,
  /** Rows of a page that are framed and sent in one turn: some 2 ms, with compression 6. */
  historyRowsPerSlice: 128,
  /** Pages shared by those who read the same: up to 5 MB each. */
  historyPagesKept: 8,
  /** How long a client may take to answer a close when the service stops; else it may have much to read before. */
  closeMs: 2_000,
  closePatienceMs: 30_000,
} as const;
