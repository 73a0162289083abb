import { venueBackoff, venueLimits } from "../../base/config/venue-limits.ts";
import { backoffMs } from "../../base/time/retry.ts";
import { getBookKind, hashBook } from "./book-proof.ts";
import { BookSide } from "./book-side.ts";
import type { BookKind, HashTrust } from "./hash-trust.ts";
import type { BookChanges, BookFacts, BookSnapshot, LevelChange } from "./parse-book.ts";

/** Why a book may differ from the venue's. */
export type StaleReason =
  /** No message came yet, or not enough to verify the book. */
  | "loading"
  /** No open connection of the stream covers the book. */
  | "not_followed"
  /** Responses have changes that the stream does not send. */
  | "stalled"
  /** The response was older than the stream's newest message. */
  | "behind"
  | "crossed"
  | "best_price_mismatch"
  | "hash_mismatch"
  | "out_of_order"
  | "malformed"
  /** Nothing has confirmed the book for too long. */
  | "unconfirmed";

/**
 * Called after each message about a book, with every level change since the last call; `null` when levels were
 * replaced. A copy built from the calls equals the book as long as the book is not stale.
 */
export type BookListener = (book: LiveBook, changes: readonly LevelChange[] | null) => void;

type LiveBookOptions = {
  readonly assetId: string;
  readonly trust: HashTrust;
  readonly onFault: (reason: StaleReason) => void;
  /** How long after a response the book is requested again, to compare it with the stream. */
  readonly rereadMs: () => number;
};

/**
 * The venue's book of one token, built from snapshots and changes. Invariant: it equals the venue's book at the newest
 * message received, or `staleReason` says why it may differ. Times named `nowMs` and `...AtMs` are monotonic; others
 * are the venue's Unix milliseconds.
 */
export class LiveBook {
  readonly assetId: string;
  readonly bids = new BookSide("bid");
  readonly asks = new BookSide("ask");
  readonly listeners = new Set<BookListener>();
  readonly #trust: HashTrust;
  readonly #onFault: (reason: StaleReason) => void;
  readonly #rereadMs: () => number;
  #facts: BookFacts | null = null;
  #hasAllFacts = false;
  #timestampMs = 0;
  #hash: string | null = null;
  #isHashChecked = true;
  #source: "rest" | "stream" = "rest";
  #fault: StaleReason | null = "loading";
  /** Whether the stream covers the book, or else why not. */
  #following: "followed" | "not_followed" | "stalled" = "not_followed";
  /** The venue's timestamp of the newest stream message. */
  #streamMs = 0;
  /** Whether the levels are those that the stream has sent. */
  #isStreams = false;
  /** The first book that a response had before the stream: its timestamp, and when the response came. */
  #unsent: { readonly timestampMs: number; readonly sinceMs: number } | null = null;
  /** Since when the stream does not cover the book, when it is subscribed again, and how often it was. */
  #lostAtMs: number | null = null;
  #resubscribeAtMs = 0;
  #resubscriptions = 0;
  #observedAtMs = 0;
  #confirmedAtMs = 0;
  #dueAtMs = 0;
  /** Consecutive responses after which the book was still stale. */
  #attempts = 0;
  /** The changes that the stream has sent since a fetch began; `null` when none is in progress. */
  #ahead: BookChanges[] | null = null;

  constructor({ assetId, trust, onFault, rereadMs }: LiveBookOptions) {
    this.assetId = assetId;
    this.#trust = trust;
    this.#onFault = onFault;
    this.#rereadMs = rereadMs;
  }

  /** The fields of the book other than its levels; `null` until they are received. */
  get facts(): BookFacts | null {
    return this.#facts;
  }

  /** Whether a response has supplied the fields that the stream omits, such as the smallest order. */
  get hasAllFacts(): boolean {
    return this.#hasAllFacts;
  }

  /** When the book last changed, in Unix milliseconds of the venue. */
  get timestampMs(): number {
    return this.#timestampMs;
  }

  get hash(): string | null {
    return this.#hash;
  }

  get source(): "rest" | "stream" {
    return this.#source;
  }

  /** The time since the venue last sent something about the book, in milliseconds. */
  ageMs(nowMs: number): number {
    return nowMs - this.#observedAtMs;
  }

  /** Returns why the book may differ from the venue's at the newest message; `null` if it does not. */
  staleReason(nowMs: number): StaleReason | null {
    this.#checkHash(nowMs);
    if (this.#unsent !== null && nowMs - this.#unsent.sinceMs > venueLimits.streamDelayMsMax) {
      this.#lose("stalled", nowMs);
    }
    if (this.#fault !== null) return this.#fault;
    const isOld = nowMs - this.#confirmedAtMs > venueLimits.bookUnconfirmedMsMax;
    return isOld ? "unconfirmed" : null;
  }

  isDue(nowMs: number): boolean {
    return this.#ahead === null && nowMs >= this.#dueAtMs;
  }

  /**
   * Returns since when the stream should have sent this book, if it is to be subscribed again now; else `null`. Each
   * time the next one is planned later.
   */
  startResubscription(nowMs: number): number | null {
    // A book that no response had may not exist.
    const isDue = this.#lostAtMs !== null && this.#hasAllFacts && nowMs >= this.#resubscribeAtMs;
    if (!isDue) return null;
    const { resubscribeMs } = venueLimits;
    this.#resubscribeAtMs = nowMs + resubscribeMs * 2 ** Math.min(this.#resubscriptions, 4);
    this.#resubscriptions += 1;
    return this.#lostAtMs;
  }

  /** Begins a fetch. From now on changes are also kept, to be applied to the response. */
  beginFetch(): void {
    this.#ahead = [];
  }

  /** Ends a fetch that returned no book. The book is due again after `waitMs`. */
  failFetch(nowMs: number, waitMs: number): void {
    this.#ahead = null;
    this.#dueAtMs = nowMs + waitMs;
  }

  applyAnswer(snapshot: BookSnapshot, nowMs: number): void {
    const ahead = this.#ahead ?? [];
    const isOverflown = ahead.length >= venueLimits.bookChangesAheadMax;
    this.#ahead = null;
    this.#hasAllFacts = true;
    if (this.#following !== "followed" && this.#lostAtMs === null)
      this.#lose("not_followed", nowMs);
    this.#planReread(nowMs);
    const isOlder = snapshot.timestampMs < this.#timestampMs;
    // The book is newer than the response, and nothing is wrong with it.
    if (isOlder && this.#fault === null) {
      this.#facts = mergeFacts(this.#facts ?? snapshot.facts, snapshot.facts);
      this.#checkHash(nowMs);
      return;
    }
    const wasUnverified = this.#fault === "hash_mismatch";
    const isNew = this.#load(snapshot, "rest", nowMs);
    if (wasUnverified && !isNew) this.#recordFalseAlarm();
    this.#fault = this.#following === "followed" ? null : this.#following;
    this.#checkHash(nowMs);
    for (const changes of ahead) if (!this.#isWithin(changes)) this.#apply(changes, nowMs);
    if (isOverflown || this.#streamMs > this.#timestampMs) this.#mismatch("behind", nowMs);
    const isAhead = !this.#isStreams && this.#timestampMs > this.#streamMs;
    if (isAhead && this.#following === "followed") {
      this.#unsent ??= { timestampMs: this.#timestampMs, sinceMs: nowMs };
    }
    this.#checkPrices(null, nowMs);
    this.#checkHash(nowMs);
    this.#attempts = this.#fault === null ? 0 : this.#attempts + 1;
    this.report(isNew ? null : []);
  }

  applySnapshot(snapshot: BookSnapshot, nowMs: number): void {
    const wasLost = this.#fault === "not_followed" || this.#fault === "stalled";
    this.#following = "followed";
    this.#lostAtMs = null;
    if (snapshot.timestampMs < this.#streamMs) return; // an earlier message is newer
    this.#recordStream(snapshot);
    if (snapshot.timestampMs < this.#timestampMs) {
      // A response was newer. With the changes that follow, that book is complete. The book is fetched again in any
      // case.
      if (wasLost && this.#source === "rest") {
        this.#fault = null;
        this.#isHashChecked = this.#hash === null; // a mismatch does not show while the book is not followed
        this.#checkHash(nowMs);
      }
      this.#dueAtMs = Math.min(this.#dueAtMs, nowMs);
      this.report([]);
      return;
    }
    const isNew = this.#load(snapshot, "stream", nowMs);
    this.#ahead &&= [];
    this.#fault = null;
    this.#checkPrices(null, nowMs);
    this.#checkHash(nowMs);
    this.report(isNew ? null : []);
  }

  applyChanges(changes: BookChanges, nowMs: number): void {
    if (this.#ahead !== null && this.#ahead.length < venueLimits.bookChangesAheadMax) {
      this.#ahead.push(changes);
    }
    if (changes.timestampMs < this.#streamMs) {
      // Harmless if the hash proves the book as it is: then it includes these changes already.
      if (!this.#isProven(nowMs)) this.#mismatch("out_of_order", nowMs);
      this.report([]);
      return;
    }
    this.#recordStream(changes);
    if (this.#facts === null || this.#isWithin(changes)) return;
    this.#apply(changes, nowMs);
    // Without a response the hash cannot be computed, and nothing proves that no change was lost.
    if (!this.#hasAllFacts) this.#mismatch("loading", nowMs);
    this.#checkPrices(changes, nowMs);
    this.report(changes.changes);
  }

  takeBroken(nowMs: number): void {
    this.#mismatch("malformed", nowMs);
    this.report([]);
  }

  /** Applies a trade or a new tick size. The hash of the message before may or may not include it. */
  applyFact(fact: Partial<BookFacts>, nowMs: number): void {
    if (this.#facts === null) return;
    if (this.#isHashRight() === true) this.#confirm(nowMs);
    if (this.#fault === "hash_mismatch") this.#isHashChecked = false;
    this.#facts = { ...this.#facts, ...fact };
    this.#observedAtMs = nowMs;
    this.report([]);
  }

  unfollow(nowMs: number): void {
    this.#lose("not_followed", nowMs);
    this.report([]);
  }

  /** Calls the listeners. `changes` are empty when only the state of the book may have changed. */
  report(changes: readonly LevelChange[] | null): void {
    for (const listen of this.listeners) listen(this, changes);
  }

  #load(snapshot: BookSnapshot, source: "rest" | "stream", nowMs: number): boolean {
    const hasNewLevels = [this.bids.replace(snapshot.bids), this.asks.replace(snapshot.asks)].some(
      Boolean,
    );
    const isNew = hasNewLevels || this.#timestampMs !== snapshot.timestampMs;
    this.#facts = mergeFacts(snapshot.facts, this.#facts ?? snapshot.facts);
    this.#timestampMs = snapshot.timestampMs;
    this.#hash = snapshot.hash;
    this.#isHashChecked = snapshot.hash === null;
    this.#source = source;
    this.#isStreams = source === "stream" || (this.#isStreams && !hasNewLevels);
    this.#observedAtMs = nowMs;
    this.#confirmedAtMs = nowMs;
    return isNew;
  }

  #apply({ timestampMs, hash, changes }: BookChanges, nowMs: number): void {
    for (const { side, price, size } of changes) {
      if (side === "bid") this.bids.set(price, size);
      else this.asks.set(price, size);
    }
    this.#timestampMs = timestampMs;
    this.#hash = hash;
    this.#isHashChecked = hash === null;
    this.#source = "stream";
    this.#isStreams = true;
    this.#observedAtMs = nowMs;
  }

  /** Records the time of a message. It ends the wait for what a response had, also if it is dated a little earlier. */
  #recordStream({ timestampMs }: { readonly timestampMs: number }): void {
    this.#streamMs = timestampMs;
    const awaitedMs = this.#unsent?.timestampMs ?? 0;
    if (timestampMs + venueLimits.timestampSkewMsMax >= awaitedMs) this.#unsent = null;
  }

  /** Records that the stream does not cover the book. A lost connection is restored automatically, a stalled one is not. */
  #lose(reason: "not_followed" | "stalled", nowMs: number): void {
    this.#lostAtMs = this.#unsent?.sinceMs ?? nowMs;
    this.#resubscribeAtMs = reason === "stalled" ? nowMs : nowMs + venueLimits.resubscribeMs;
    this.#following = reason;
    this.#streamMs = 0;
    this.#isStreams = false;
    this.#unsent = null;
    if (this.#fault === "loading") return;
    this.#mismatch(reason, nowMs);
    this.#fault = reason;
  }

  /** Plans the next comparison with the stream. Books that are due in the same second share requests. */
  #planReread(nowMs: number): void {
    this.#dueAtMs = Math.ceil((nowMs + this.#rereadMs()) / 1000) * 1000;
  }

  /** Whether the book includes these changes already. */
  #isWithin({ timestampMs, hash }: BookChanges): boolean {
    if (timestampMs !== this.#timestampMs) return timestampMs < this.#timestampMs;
    return hash !== null && hash === this.#hash;
  }

  #checkPrices(changes: BookChanges | null, nowMs: number): void {
    if (this.#isCrossed) this.#mismatch("crossed", nowMs);
    if (changes === null) return;
    const [bid, ask] = [this.bids.best, this.asks.best];
    const { bestBid = bid, bestAsk = ask } = changes;
    if (bestBid !== bid || bestAsk !== ask) this.#mismatch("best_price_mismatch", nowMs);
  }

  #isProven(nowMs: number): boolean {
    this.#checkHash(nowMs);
    const isChecked = this.#isHashChecked && this.#hash !== null;
    return this.#fault === null && isChecked && this.#trust.isUsable(this.#kind);
  }

  get #kind(): BookKind {
    return this.#facts === null ? "v1_untraded" : getBookKind(this.#facts);
  }

  #recordFalseAlarm(): void {
    this.#trust.recordFalseAlarm(this.#kind, this.assetId);
  }

  get #isCrossed(): boolean {
    const [bid, ask] = [this.bids.best, this.asks.best];
    return bid !== null && ask !== null && bid >= ask;
  }

  #checkHash(nowMs: number): void {
    const isRight = this.#isHashRight();
    if (isRight === null) return;
    if (isRight) return this.#confirm(nowMs);
    this.#isHashChecked = true;
    if (!this.#trust.isUsable(this.#kind)) return;
    // A response is a complete book. If its hash differs, the venue computes hashes in another way.
    if (this.#source === "rest") this.#recordFalseAlarm();
    this.#mismatch("hash_mismatch", nowMs);
  }

  /** Compares the hash; returns `null` if it was compared before or cannot be. */
  #isHashRight(): boolean | null {
    const facts = this.#facts;
    if (this.#isHashChecked || facts === null || !this.#hasAllFacts) return null;
    const { assetId } = this;
    const timestampMs = this.#timestampMs;
    return hashBook(this, { assetId, timestampMs, facts }) === this.#hash;
  }

  /** Ends a fault of the book: the hash matched, which proves every level. */
  #confirm(nowMs: number): void {
    this.#isHashChecked = true;
    this.#confirmedAtMs = nowMs;
    if (this.#source === "stream") this.#trust.recordProven(this.#kind);
    if (this.#following !== "followed" || this.#isCrossed || this.#fault === null) return;
    this.#fault = null;
    this.#attempts = 0;
    this.#planReread(nowMs);
  }

  #mismatch(reason: StaleReason, nowMs: number): void {
    if (this.#fault !== null) return;
    this.#fault = reason;
    this.#onFault(reason);
    const graceMs = reason === "hash_mismatch" ? venueLimits.bookMismatchGraceMs : 0;
    const waitMs = this.#attempts === 0 ? 0 : backoffMs(this.#attempts, venueBackoff, () => 1);
    this.#dueAtMs = Math.min(this.#dueAtMs, nowMs + graceMs + waitMs);
  }
}

/** A field that the newer message leaves out comes from the older one. */
function mergeFacts(newer: BookFacts, older: BookFacts): BookFacts {
  return {
    market: newer.market,
    minOrderSize: newer.minOrderSize ?? older.minOrderSize,
    tickSize: newer.tickSize ?? older.tickSize,
    negRisk: newer.negRisk ?? older.negRisk,
    lastTradePrice: newer.lastTradePrice ?? older.lastTradePrice,
    version: newer.version ?? older.version,
  };
}
