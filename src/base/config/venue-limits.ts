/** Bounds on requests to Polymarket and on its data, each with the source of its number. */
const mebibyte = 1024 * 1024;

/** Bounds on the venue's order books, and on requests for them. */
export const venueLimits = {
  /** Concurrent requests to one base URL. An answer takes about 50 ms. */
  concurrentRequestsMax: 4,
  /** Requests that can be sent in a burst, such as the first ones for a page of markets. */
  requestsInBurstMax: 10,
  /** The venue delays requests over its rate rather than refusing them. */
  requestTimeoutMs: 10_000,
  /** A hundred of the largest books seen have 10 MB together. */
  responseBytesMax: 16 * mebibyte,
  /** `Retry-After` is honored up to this. */
  retryAfterMsMax: 300_000,
  /** Books in memory: 100 MB at 20 KB each. Their tokens fit on 10 connections. */
  booksMax: 5_000,
  /** A book that was not requested and has no listener for this long is released. */
  bookInterestMs: 5 * 60_000,
  /**
   * How long after a response a book is requested again, because a stream that answers PING can still send nothing. In
   * between, so that at most this many books are requested per second.
   */
  bookRereadMsMin: 5_000,
  bookRereadMsMax: 30_000,
  bookRereadsPerSecond: 100,
  /** How long the stream may take for what a response has. It usually takes 0.1 s, and PONG no longer. */
  streamDelayMsMax: 3_000,
  /** How much earlier than in a response a change may be dated in the stream. */
  timestampSkewMsMax: 1_000,
  /** How long a subscribed book may not come before it is subscribed again. The time doubles up to 160 s. */
  resubscribeMs: 10_000,
  /** A book without confirmation for this long is stale. */
  bookUnconfirmedMsMax: 60_000,
  /** The venue sends a trade about 100 ms after a hash that includes it, so a mismatch can resolve itself. */
  bookMismatchGraceMs: 250,
  /** Changes kept while a book is being requested. With more, the book is requested again. */
  bookChangesAheadMax: 1_000,
  /** Consecutive mismatches of hashes on correct books after which hashes are no longer believed. */
  bookFalseAlarmsMax: 20,
  /** How long the first request for a token waits for its book. */
  bookFirstMsMax: 3_000,
  /** How often due books are requested, and how often all books are checked otherwise. */
  bookDueMs: 100,
  bookSweepMs: 1_000,
  /** A token without a book at the venue is requested again after this. */
  bookAbsentMs: 60_000,
  /** Books in one request. The venue accepts up to 500. */
  booksPerRequestMax: 100,
  /** The venue allows 500 requests for several books in 10 seconds, and three times as many for one. */
  bookRequestsPer10Seconds: 200,
  /** Tokens of one connection to the venue's stream. The venue allows 500, but does not document it. */
  tokensPerSocketMax: 500,
  /** The first message of a connection contains the books of all its tokens. */
  messageBytesMax: 16 * mebibyte,
  /** Events in one message, and changes in one event: twenty times the books of a connection. */
  messageEventsMax: 10_000,
  /** The venue closes connections without a PING in 10 seconds. */
  pingMs: 9_000,
  /** A connection that receives nothing for this long, not even PONG, is replaced. */
  silenceMsMax: 25_000,
  /** Price levels of one side of a book. The smallest tick of the venue, 0.0001, allows 9,999 prices. */
  levelsMax: 10_000,
} as const;

/** Bounds on requests for the venue's market metadata, and on its texts. */
export const metadataLimits = {
  /** A fifth of the 300 requests in 10 seconds that the venue allows. */
  requestsPer10Seconds: 60,
  /** The largest page of the venue. */
  marketsPerPage: 100,
  /** Entries that are read from one answer, even if the venue sends larger pages. */
  pageMarketsMax: 1_000,
  /** When a token that the venue did not know, or whose claim was not proven, is looked up again. The pause doubles. */
  tokenPauseSecondsMin: 15,
  tokenPauseSecondsMax: 86_400,
  /** Ids in one request. 100 ids would make a line of 8 KB, which is a common limit of servers. */
  lookupIdsMax: 50,
  /** Markets that one search finds due. Markets that become known later wait for these, for several seconds. */
  dueMax: 500,
  /** How often due markets are searched for after none was found. A search visits all markets. */
  idleMs: 1_000,
  /** How often all open markets are read: about 270 pages, in a minute. */
  openReadSeconds: 6 * 3600,
  /** A market that has not been among the open ones for this long is requested by its id. */
  openAgeSeconds: 12 * 3600,
  /** How often ended markets are requested: they rarely change. */
  endedAgeSeconds: 30 * 86_400,
  /** A market that the venue does not have is requested again after its age at the time, within these bounds. */
  absentAgeSecondsMin: 60,
  absentAgeSecondsMax: 7 * 86_400,
  /** With more markets never requested, reading all closed markets takes fewer requests than requesting them by id. */
  closedReadMissingMin: 10_000,
  closedReadSeconds: 7 * 86_400,
  /** Pages in a row without a readable market after which a pass ends. */
  barrenPagesMax: 3,
  /** Changes that a reorg can revert, at about 100 bytes each. With more, no further changes are made. */
  changesAheadMax: 500_000,
  /** The longest cursors seen have about 300 characters. */
  cursorLengthMax: 2_000,
  /** The longest slug that a path of `GET /v1/markets/{id}` can have. The longest seen has 130 characters. */
  slugLengthMax: 200,
  questionLengthMax: 1_000,
  /** The longest descriptions seen have about 6,000 characters. */
  descriptionLengthMax: 20_000,
  labelLengthMax: 200,
  addressLengthMax: 1_000,
  tagsMax: 50,
  /** The most outcomes that a condition can have. */
  outcomesMax: 256,
  /** The length of JSON inside a text. 256 token ids of 78 digits have 21 KB. */
  innerJsonLengthMax: 65_536,
} as const;

/** How long requests to the venue pause after a failure. */
export const venueBackoff = { firstMs: 250, maxMs: 30_000 } as const;
