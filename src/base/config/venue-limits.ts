/** Bounds on what is requested from Polymarket and kept of it, each with the source of its number. */
const mebibyte = 1024 * 1024;

/** Bounds on requests to the venue, and on what is kept of its answers. */
export const venueLimits = {
  /** Open requests of one base URL; its answers take some 50 ms. */
  concurrentRequestsMax: 4,
  /** Requests that may follow each other closely, such as the first ones of a page of markets. */
  requestsInBurstMax: 10,
  /** Requests in line: at 20 a second the last one waits for seconds. */
  requestsWaitingMax: 100,
  /** The venue queues what is over its rate rather than refuse it, so it may take a while. */
  requestTimeoutMs: 10_000,
  /** A hundred of the largest books seen have 10 MB. */
  responseBytesMax: 16 * mebibyte,
  /** `Retry-After` is honored up to this. */
  retryAfterMsMax: 300_000,
  /** Books held: at 20 KB each 100 MB, and as many tokens as 10 connections carry. */
  booksMax: 5_000,
  /** A book that was not requested and has no listener for this long is released. */
  bookInterestMs: 5 * 60_000,
  /** A book that nothing has confirmed for this long is asked for again: the stream has no numbers. */
  bookRereadMs: 30_000,
  /** A book that nothing has confirmed for this long is stale. */
  bookUnconfirmedMsMax: 60_000,
  /** The venue sends the trade that a hash already counts some 100 ms later: a mismatch may end on its own. */
  bookMismatchGraceMs: 250,
  /** Changes kept while a book is being asked for; above it, it is asked for again. */
  bookChangesAheadMax: 1_000,
  /** Hashes that were wrong although the book was right, after which hashes are not believed. */
  bookFalseAlarmsMax: 20,
  /** The first request for a token waits this long for its book. */
  bookFirstMsMax: 3_000,
  /** How often books are looked over for those to be asked for, and all of them for other things. */
  bookDueMs: 100,
  bookSweepMs: 1_000,
  /** A token the venue has no book of is asked for again after this. */
  bookAbsentMs: 60_000,
  /** Books in one request; the venue takes up to 500. */
  booksPerRequestMax: 100,
  /** The venue grants 500 requests for many books in 10 seconds, and three times that for one. */
  bookRequestsPer10Seconds: 200,
  /** Tokens of one connection of the stream. The venue grants 500, though it does not say so. */
  tokensPerSocketMax: 500,
  /** The first message contains the books of all tokens of a connection. */
  messageBytesMax: 16 * mebibyte,
  /** The venue closes connections without a PING in 10 seconds. */
  pingMs: 9_000,
  /** A connection that says nothing for so long, not even PONG, is replaced. */
  silenceMsMax: 25_000,
  /** Levels of one side: the finest tick of the venue, 0.0001, allows 9,999 prices. */
  levelsMax: 10_000,
} as const;

/** What is asked of the venue's market metadata, and believed of it. */
export const metadataLimits = {
  /** A fifth of the 300 requests in 10 seconds that the venue grants. */
  requestsPer10Seconds: 60,
  /** The most the venue gives. */
  marketsPerPage: 100,
  /** Entries of one answer that are looked at, whatever the venue thinks a page is. */
  pageMarketsMax: 1_000,
  /** Ids in one request: 100 of them would be a line of 8 KB, which is where servers stop reading. */
  lookupIdsMax: 50,
  /** Found to be due immediately; markets that become known meanwhile wait for these, some seconds. */
  dueMax: 500,
  /** How often due markets are looked for after there were none; it walks over all markets. */
  idleMs: 1_000,
  /** The open half has some 270 pages: read through this often, in a minute. */
  openReadSeconds: 6 * 3600,
  /** A market that the open half has not contained for this long is requested by its id. */
  openAgeSeconds: 12 * 3600,
  /** What has ended hardly changes any more. */
  endedAgeSeconds: 30 * 86_400,
  /** Asked again after as long as the market was old then, within these: new ones come late. */
  absentAgeSecondsMin: 60,
  absentAgeSecondsMax: 7 * 86_400,
  /** Above so many markets never asked for, reading the closed half is fewer requests than ids. */
  closedReadMissingMin: 10_000,
  closedReadSeconds: 7 * 86_400,
  /** A hundred times the market metadata of 2026; a read that is still given pages goes in circles. */
  passPagesMax: 1_000_000,
  /** Changes that forks may revert, above which no more are made: some 100 bytes each. */
  changesAheadMax: 500_000,
  /** The longest seen have some 300 characters. */
  cursorLengthMax: 2_000,
  /** A path of `GET /v1/markets/{id}` holds no more; the longest seen has 130. */
  slugLengthMax: 200,
  questionLengthMax: 1_000,
  /** The longest seen have some 6,000. */
  descriptionLengthMax: 20_000,
  labelLengthMax: 200,
  addressLengthMax: 1_000,
  tagsMax: 50,
  /** More than a condition can have. */
  outcomesMax: 256,
  /** Of JSON inside of a text: 256 token ids of 78 digits have 21 KB. */
  innerJsonLengthMax: 65_536,
} as const;

/** For how long the venue is left alone after a failure. */
export const venueBackoff = { firstMs: 250, maxMs: 30_000 } as const;
