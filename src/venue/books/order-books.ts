import { venueLimits } from "../../base/config/venue-limits.ts";
import { AppError, toError } from "../../base/errors.ts";
import { formatTokenId, type TokenId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { KindCounts } from "../../base/metrics/kind-counts.ts";
import type { Clock } from "../../base/time/clock.ts";
import { WakeSignal } from "../../base/time/wake-signal.ts";
import { VenueHttp } from "../venue-http.ts";
import { HashTrust } from "./hash-trust.ts";
import { type BookListener, LiveBook, type StaleReason } from "./live-book.ts";
import { MarketSockets } from "./market-sockets.ts";
import {
  type BookEvent,
  type BookSnapshot,
  type BrokenEvent,
  parseBookMessage,
  parseSnapshot,
} from "./parse-book.ts";

/** Why there is no book: the venue has none for this token, or the book cannot be fetched now. */
type NoBook = "absent" | "unavailable";

type OrderBooksOptions = {
  readonly restUrl: string;
  readonly wsUrl: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
};

type Entry = {
  readonly book: LiveBook;
  /** Notified when the venue has sent something about the book, and when the book is released. */
  readonly news: WakeSignal;
  interestAtMs: number;
  isAbsent: boolean;
  /** The read that `awaitFirst` has begun. */
  firstRead: Promise<unknown> | null;
};

/** The venue's order books of tokens that clients are interested in, kept live. */
export class OrderBooks {
  readonly name = "polymarket";
  readonly clock: Clock;
  readonly #entries = new Map<string, Entry>();
  readonly #http: VenueHttp;
  readonly #sockets: MarketSockets;
  readonly #trust = new HashTrust();
  readonly #faults = new KindCounts<StaleReason>();
  readonly #log: Log;
  readonly #closing = new AbortController();
  readonly #timers: readonly NodeJS.Timeout[];
  #isFetchPlanned = false;
  #requestsUnderWay = 0;
  /** Increases when a book is released. */
  #releases = 0;
  readonly #counts = { changes: 0, snapshots: 0, unreadable: 0, connections: 0 };

  private constructor({ restUrl, wsUrl, clock, random, log }: OrderBooksOptions) {
    this.clock = clock;
    this.#log = log;
    const requestsPer10Seconds = venueLimits.bookRequestsPer10Seconds;
    this.#http = new VenueHttp({ baseUrl: restUrl, requestsPer10Seconds, clock, random });
    this.#sockets = MarketSockets.open({
      url: wsUrl,
      clock,
      random,
      onText: (text) => this.#applyMessage(text),
      onOpen: () => (this.#counts.connections += 1),
      onDown: (assetIds) => this.#unfollow(assetIds),
    });
    this.#timers = [
      setInterval(() => this.#fetchDue(), venueLimits.bookDueMs),
      setInterval(() => this.#sweep(), venueLimits.bookSweepMs),
    ];
  }

  static open(options: OrderBooksOptions): OrderBooks {
    return new OrderBooks(options);
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#closing.abort();
    this.#sockets.close();
    this.#entries.clear();
    this.#releases += 1;
  }

  /** The values of the metrics of order books, by their names. Counts are since the start. */
  get metrics() {
    const nowMs = this.clock.monotonicMs();
    const entries = [...this.#entries.values()];
    const { requests, errors } = this.#http.status;
    return {
      in_memory: entries.length,
      stale: entries.filter(({ book }) => book.staleReason(nowMs) !== null).length,
      followed: entries.filter(({ book }) => book.listeners.size > 0).length,
      resyncs: this.#faults.toRecord(),
      ...this.#counts,
      ...this.#trust.metrics,
      requests,
      errors,
      connections_open: this.#sockets.openConnections,
    };
  }

  /** Returns the book of a token if it is in memory. The call counts as interest in the book. Never waits. */
  peek(tokenId: TokenId): LiveBook | null {
    return this.peeker(tokenId)();
  }

  /** Returns a `peek` for a caller that asks for the same token repeatedly. */
  peeker(tokenId: TokenId): () => LiveBook | null {
    const assetId = formatTokenId(tokenId);
    let entry: Entry | null = null;
    let releases = 0;
    return () => {
      // As long as no book was released, the entry is still in memory and needs no lookup.
      if (entry === null || releases !== this.#releases) entry = this.#openEntry(assetId);
      else entry.interestAtMs = this.clock.monotonicMs();
      releases = this.#releases;
      return entry === null || entry.book.facts === null ? null : entry.book;
    };
  }

  /**
   * Returns the book of a token. If it was never loaded, waits until it is verified and complete, the venue has none or
   * cannot be asked, or `bookFirstMsMax` is over.
   */
  async read(tokenId: TokenId): Promise<LiveBook | NoBook> {
    const entry = this.#openEntry(formatTokenId(tokenId));
    if (entry === null) return "unavailable";
    const { book, news } = entry;
    const { clock } = this;
    const { signal } = this.#closing;
    const deadlineMs = clock.monotonicMs() + venueLimits.bookFirstMsMax;
    let leftMs = book.facts === null ? venueLimits.bookFirstMsMax : 0;
    while (leftMs > 0 && !entry.isAbsent && !signal.aborted) {
      await news.wait(news.version, leftMs, { clock, signal }).catch(() => {});
      const nowMs = clock.monotonicMs();
      const isComplete = book.hasAllFacts || (book.facts !== null && this.#http.isPaused);
      const isRight = isComplete && book.staleReason(nowMs) === null;
      const isUnavailable = this.#http.isPaused && this.#sockets.openConnections === 0;
      leftMs = isRight || isUnavailable ? 0 : deadlineMs - nowMs;
    }
    if (book.facts !== null) return book;
    return entry.isAbsent ? "absent" : "unavailable";
  }

  /** Waits for the first book of a token, as `read` does. Once that has ended in any way, it does not wait again. */
  async awaitFirst(tokenId: TokenId): Promise<void> {
    const isDown = this.#http.isPaused && this.#sockets.openConnections === 0;
    const entry = isDown ? null : this.#openEntry(formatTokenId(tokenId));
    if (entry === null) return;
    entry.firstRead ??= this.read(tokenId);
    await entry.firstRead;
  }

  /**
   * Calls the listener after every message about the book until the returned function is called. Returns `null` when no
   * book can be added.
   */
  watch(tokenId: TokenId, listener: BookListener): (() => void) | null {
    const entry = this.#openEntry(formatTokenId(tokenId));
    if (entry === null) return null;
    const { listeners } = entry.book;
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      entry.interestAtMs = this.clock.monotonicMs();
    };
  }

  /** Returns the entry of a token, added if missing; `null` if there are `booksMax` books and all have followers. */
  #openEntry(assetId: string): Entry | null {
    const nowMs = this.clock.monotonicMs();
    const existing = this.#entries.get(assetId);
    if (existing !== undefined) {
      existing.interestAtMs = nowMs;
      return existing;
    }
    if (this.#entries.size >= venueLimits.booksMax && !this.#releaseOldest()) return null;
    const onFault = (reason: StaleReason) => this.#faults.add(reason);
    const entry: Entry = {
      book: new LiveBook({ assetId, trust: this.#trust, onFault, rereadMs: this.#rereadMs }),
      news: new WakeSignal(),
      interestAtMs: nowMs,
      isAbsent: false,
      firstRead: null,
    };
    this.#entries.set(assetId, entry);
    this.#sockets.add(assetId);
    this.#planFetch();
    return entry;
  }

  #releaseOldest(): boolean {
    let oldest: Entry | null = null;
    for (const entry of this.#entries.values()) {
      if (entry.book.listeners.size > 0) continue;
      if (oldest === null || entry.interestAtMs < oldest.interestAtMs) oldest = entry;
    }
    if (oldest !== null) this.#release(oldest);
    return oldest !== null;
  }

  #release({ book, news }: Entry): void {
    this.#releases += 1;
    this.#entries.delete(book.assetId);
    this.#sockets.remove(book.assetId);
    news.notify();
  }

  #unfollow(assetIds: Iterable<string>): void {
    const nowMs = this.clock.monotonicMs();
    for (const assetId of assetIds) this.#entries.get(assetId)?.book.unfollow(nowMs);
  }

  #applyMessage(text: string): void {
    const nowMs = this.clock.monotonicMs();
    for (const event of parseBookMessage(text)) {
      if (event.kind === "broken") this.#takeBroken(event, nowMs);
      else this.#applyEvent(event, nowMs);
    }
  }

  /**
   * A message that names no book is assumed to change none. If it did change one, the next hash of that book shows it.
   */
  #takeBroken({ assetIds, market }: BrokenEvent, nowMs: number): void {
    this.#counts.unreadable += 1;
    const ofMarket = assetIds.length === 0 && market !== null;
    const entries = ofMarket
      ? [...this.#entries.values()].filter(({ book }) => book.facts?.market === market)
      : assetIds.flatMap((assetId) => this.#entries.get(assetId) ?? []);
    for (const { book, news } of entries) {
      book.takeBroken(nowMs);
      news.notify();
    }
  }

  #applyEvent(event: Exclude<BookEvent, BrokenEvent>, nowMs: number): void {
    const entry = this.#entries.get(event.assetId);
    if (entry === undefined) return;
    const { book } = entry;
    switch (event.kind) {
      case "book":
        this.#counts.snapshots += 1;
        book.applySnapshot(event, nowMs);
        break;
      case "changes":
        this.#counts.changes += event.changes.length;
        book.applyChanges(event, nowMs);
        break;
      case "fact":
        book.applyFact(event.fact, nowMs);
    }
    entry.news.notify();
  }

  /** Plans a fetch for the next turn of the event loop, so that tokens added together are fetched in one request. */
  #planFetch(): void {
    if (this.#isFetchPlanned) return;
    this.#isFetchPlanned = true;
    setImmediate(() => {
      this.#isFetchPlanned = false;
      this.#fetchDue();
    });
  }

  #fetchDue(): void {
    if (this.#http.isPaused) return;
    const nowMs = this.clock.monotonicMs();
    let batch: Entry[] = [];
    for (const entry of this.#entries.values()) {
      if (this.#requestsUnderWay >= venueLimits.concurrentRequestsMax) return;
      if (!entry.book.isDue(nowMs)) continue;
      batch.push(entry);
      if (batch.length < venueLimits.booksPerRequestMax) continue;
      void this.#fetch(batch);
      batch = [];
    }
    if (batch.length > 0) void this.#fetch(batch);
  }

  async #fetch(entries: readonly Entry[]): Promise<void> {
    this.#requestsUnderWay += 1;
    for (const { book } of entries) book.beginFetch();
    try {
      const assetIds = entries.map(({ book }) => book.assetId);
      const fetched = await fetchBooks(this.#http, assetIds, this.#closing.signal);
      const nowMs = this.clock.monotonicMs();
      for (const entry of entries) {
        const { book } = entry;
        const snapshot = fetched.get(book.assetId);
        entry.isAbsent = snapshot === null;
        if (snapshot) book.applyAnswer(snapshot, nowMs);
        else book.failFetch(nowMs, snapshot === null ? venueLimits.bookAbsentMs : 1_000);
      }
    } catch (thrown) {
      this.#log.debug({ err: toError(thrown) }, "order book request failed; retrying");
      // `VenueHttp` decides on the pause, for all requests together.
      for (const { book } of entries) book.failFetch(this.clock.monotonicMs(), 0);
    } finally {
      this.#requestsUnderWay -= 1;
      for (const { news } of entries) news.notify();
    }
  }

  readonly #rereadMs = (): number => {
    const { bookRereadMsMin, bookRereadMsMax, bookRereadsPerSecond } = venueLimits;
    const ms = (this.#entries.size / bookRereadsPerSecond) * 1000;
    return Math.min(Math.max(ms, bookRereadMsMin), bookRereadMsMax);
  };

  /**
   * Checks hashes that no request has checked, reports stale books to followers, subscribes again to books that the
   * stream does not send, and releases idle books.
   */
  #sweep(): void {
    const nowMs = this.clock.monotonicMs();
    for (const entry of this.#entries.values()) {
      const { book, interestAtMs } = entry;
      book.staleReason(nowMs);
      book.report([]);
      const lostAtMs = book.startResubscription(nowMs);
      if (lostAtMs !== null) this.#sockets.resubscribe(book.assetId, lostAtMs);
      const isIdle = nowMs - interestAtMs > venueLimits.bookInterestMs;
      if (isIdle && book.listeners.size === 0) this.#release(entry);
    }
  }
}

/**
 * Fetches the books of up to `booksPerRequestMax` tokens; `null` where the venue has no book. A token whose book cannot
 * be parsed is left out of the result. Throws `VenueError`.
 */
async function fetchBooks(
  http: VenueHttp,
  assetIds: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, BookSnapshot | null>> {
  const body = JSON.stringify(assetIds.map((token_id) => ({ token_id })));
  const request = { method: "POST", path: "/books", body, read: getList } as const;
  const books = await http.fetch(request, signal);
  const snapshots = books.slice(0, venueLimits.booksPerRequestMax).map(parseSnapshot);
  const fetched = new Map<string, BookSnapshot | null>();
  // The venue leaves out tokens without a book. That is certain only if every entry was readable.
  if (!snapshots.includes(null)) for (const assetId of assetIds) fetched.set(assetId, null);
  for (const snapshot of snapshots) {
    if (snapshot !== null && assetIds.includes(snapshot.assetId)) {
      fetched.set(snapshot.assetId, snapshot);
    }
  }
  return fetched;
}

function getList(json: unknown): readonly unknown[] | null {
  return Array.isArray(json) ? json : null;
}

/** Returns the error for requests of books when no source is configured. */
export function noBookSource(): AppError {
  const publicMessage = "No source of order books is configured (ODDWIRE_VENUE)";
  return new AppError("SERVICE_UNAVAILABLE", { publicMessage, retryAfterSeconds: null });
}
