import { venueBackoff, venueLimits } from "../../base/config/venue-limits.ts";
import { backoffMs } from "../../base/time/retry.ts";
import type { HashTrust } from "../hash-trust.ts";
import { checksumBook, hashBook } from "./book-proof.ts";
import { BookSide } from "./book-side.ts";
import type { BookChanges, BookFacts, BookSnapshot, LevelChange } from "./parse-book.ts";

/** Why a book may differ from the venue's. */
export type StaleReason =
  /** Nothing came yet, or not enough to say whether it is right. */
  | "loading"
  /** No open connection of the stream carries it. */
  | "not_followed"
  /** The answer was older than what the stream had sent. */
  | "behind"
  | "crossed"
  | "best_price_mismatch"
  | "hash_mismatch"
  | "out_of_order"
  | "malformed"
  /** Nothing has confirmed it for too long. */
  | "unconfirmed";

/** What those who follow a book are sent; a copy made of it is the book as long as it is not stale. */
export type BookDelta =
  | { readonly kind: "snapshot" }
  | { readonly kind: "delta"; readonly changes: readonly LevelChange[] }
  | { readonly kind: "stale"; readonly reason: StaleReason };

/** Followers of a book are called with `book` as it is then. */
export type BookListener = (report: BookDelta, book: LiveBook) => void;

type LiveBookOptions = {
  readonly assetId: string;
  readonly trust: HashTrust;
  readonly onFault: (reason: StaleReason) => void;
};

/**
 * The venue's book of one token, made of snapshots and changes. The invariant: it is the venue's
 * book at the newest message that came, or `staleReason` says why it may not be. Times are those of
 * a monotonic clock, but for the venue's own.
 */
export class LiveBook {
  readonly assetId: string;
  readonly bids = new BookSide("bid");
  readonly asks = new BookSide("ask");
  readonly listeners = new Set<BookListener>();
  readonly #trust: HashTrust;
  readonly #onFault: (reason: StaleReason) => void;
  #facts: BookFacts | null = null;
  /** Whether a response had the fields that the stream leaves out and the hash includes. */
  #hasAllFacts = false;
  #timestampMs = 0;
  #hash: string | null = null;
  #isHashChecked = true;
  #source: "rest" | "stream" = "rest";
  #fault: StaleReason | null = "loading";
  #isFollowed = false;
  /** Of the newest message of the stream. */
  #streamMs = 0;
  #version = 0;
  #heardAtMs = 0;
  #confirmedAtMs = 0;
  #dueAtMs = 0;
  /** Answers in a row that did not make it right. */
  #attempts = 0;
  /** While it is being fetched: what the stream has sent in the meantime. */
  #ahead: BookChanges[] | null = null;
  #bests: readonly [number | null, number | null] = [null, null];
  /** The version that `#top` was looked at for. */
  #topOf = 0;
  #top: { readonly bid: bigint | null; readonly ask: bigint | null } = { bid: null, ask: null };
  #reported: "nothing" | "synced" | "stale" = "nothing";
  /** Whether levels were replaced since the last report. */
  #isReplaced = false;

  constructor({ assetId, trust, onFault }: LiveBookOptions) {
    this.assetId = assetId;
    this.#trust = trust;
    this.#onFault = onFault;
  }

  /** What the venue says of it besides the levels; `null` until it was sent. */
  get facts(): BookFacts | null {
    return this.#facts;
  }

  /** When it last changed, in Unix milliseconds of the venue. */
  get timestampMs(): number {
    return this.#timestampMs;
  }

  get hash(): string | null {
    return this.#hash;
  }

  get source(): "rest" | "stream" {
    return this.#source;
  }

  /** Another number after every change of anything but staleness and age. */
  get version(): number {
    return this.#version;
  }

  /** The best prices in millionths, `null` for an empty side; another object once they change. */
  get top(): { readonly bid: bigint | null; readonly ask: bigint | null } {
    if (this.#topOf === this.#version) return this.#top;
    this.#topOf = this.#version;
    const [bid, ask] = [this.bids.best, this.asks.best];
    if (this.#bests[0] !== bid || this.#bests[1] !== ask) {
      this.#bests = [bid, ask];
      this.#top = {
        bid: bid === null ? null : BigInt(bid),
        ask: ask === null ? null : BigInt(ask),
      };
    }
    return this.#top;
  }

  get checksum(): number {
    return checksumBook(this);
  }

  /** How long ago the venue last sent something about it. */
  ageMs(nowMs: number): number {
    return nowMs - this.#heardAtMs;
  }

  /** Why it may not be the venue's book at the newest message; `null` when it is. */
  staleReason(nowMs: number): StaleReason | null {
    this.#checkHash(nowMs);
    if (this.#fault !== null) return this.#fault;
    const isOld = nowMs - this.#confirmedAtMs > venueLimits.bookUnconfirmedMsMax;
    return isOld ? "unconfirmed" : null;
  }

  isDue(nowMs: number): boolean {
    return this.#ahead === null && nowMs >= this.#dueAtMs;
  }

  /** The book is being fetched: from now on changes are also kept, to be applied to the answer. */
  beginFetch(): void {
    this.#ahead = [];
  }

  /** No answer came, or none about it; it is asked for again after `waitMs`. */
  failFetch(nowMs: number, waitMs: number): void {
    this.#ahead = null;
    this.#dueAtMs = nowMs + waitMs;
  }

  takeAnswer(snapshot: BookSnapshot, nowMs: number): void {
    const ahead = this.#ahead ?? [];
    const isOverflown = ahead.length >= venueLimits.bookChangesAheadMax;
    this.#ahead = null;
    this.#hasAllFacts = true;
    this.#dueAtMs = nowMs + venueLimits.bookRereadMs;
    const isOlder = snapshot.timestampMs < this.#timestampMs;
    // What the stream has sent since, and a hash has proven, is newer.
    if (isOlder && this.#fault === null) {
      this.#facts = mergeFacts(this.#facts ?? snapshot.facts, snapshot.facts);
      this.#checkHash(nowMs);
      return;
    }
    const wasUnverified = this.#fault === "hash_mismatch";
    const isNew = this.#load(snapshot, "rest", nowMs);
    if (wasUnverified && !isNew) this.#trust.noteFalseAlarm();
    this.#fault = this.#isFollowed ? null : "not_followed";
    this.#checkHash(nowMs);
    for (const changes of ahead) if (!this.#isWithin(changes)) this.#apply(changes, nowMs);
    if (isOverflown || this.#streamMs > this.#timestampMs) this.#mismatch("behind", nowMs);
    this.#checkPrices(null, nowMs);
    this.#checkHash(nowMs);
    this.#attempts = this.#fault === null ? 0 : this.#attempts + 1;
    this.report(nowMs, null);
  }

  takeSnapshot(snapshot: BookSnapshot, nowMs: number): void {
    this.#isFollowed = true;
    if (snapshot.timestampMs < this.#streamMs) return; // what came before it is newer
    this.#streamMs = snapshot.timestampMs;
    if (snapshot.timestampMs < this.#timestampMs) {
      // An answer was quicker. With all that follows it is complete; anything else is asked again.
      const isAnswer = this.#fault === "not_followed" && this.#source === "rest";
      if (isAnswer) this.#fault = null;
      this.#dueAtMs = Math.min(this.#dueAtMs, nowMs);
      this.report(nowMs, null);
      return;
    }
    this.#load(snapshot, "stream", nowMs);
    this.#ahead &&= [];
    this.#fault = null;
    this.#checkPrices(null, nowMs);
    this.#checkHash(nowMs);
    this.report(nowMs, null);
  }

  takeChanges(changes: BookChanges, nowMs: number): void {
    if (this.#ahead !== null && this.#ahead.length < venueLimits.bookChangesAheadMax) {
      this.#ahead.push(changes);
    }
    if (changes.timestampMs < this.#streamMs) {
      // Harmless when the book is proven without it: then it was counted already.
      if (!this.#isProven(nowMs)) this.#mismatch("out_of_order", nowMs);
      this.report(nowMs, null);
      return;
    }
    this.#streamMs = changes.timestampMs;
    if (this.#facts === null || this.#isWithin(changes)) return;
    this.#apply(changes, nowMs);
    // Without an answer the hash cannot be computed, and nothing proves that no change was lost.
    if (!this.#hasAllFacts) this.#mismatch("loading", nowMs);
    this.#checkPrices(changes, nowMs);
    this.report(nowMs, changes.changes);
  }

  takeBroken(nowMs: number): void {
    this.#mismatch("malformed", nowMs);
    this.report(nowMs, null);
  }

  /** The stream sent a trade or another tick; the hash before it may or may not include it. */
  takeFact(fact: Partial<BookFacts>, nowMs: number): void {
    if (this.#facts === null) return;
    if (this.#isHashRight() === true) this.#confirm(nowMs);
    if (this.#fault === "hash_mismatch") this.#isHashChecked = false;
    this.#facts = { ...this.#facts, ...fact };
    this.#version += 1;
    this.#heardAtMs = nowMs;
    this.report(nowMs, null);
  }

  unfollow(nowMs: number): void {
    this.#isFollowed = false;
    this.#streamMs = 0;
    if (this.#fault !== "loading") {
      this.#mismatch("not_followed", nowMs);
      this.#fault = "not_followed";
    }
    this.report(nowMs, null);
  }

  /** Reports the state of the book to its followers; `applied` is all that changed since the last report. */
  report(nowMs: number, applied: readonly LevelChange[] | null): void {
    if (this.listeners.size === 0) return;
    const reason = this.staleReason(nowMs);
    const before = this.#reported;
    this.#reported = reason === null ? "synced" : "stale";
    if (reason !== null) {
      if (before !== "stale") this.#notify({ kind: "stale", reason });
    } else if (before === "synced" && applied !== null) {
      this.#notify({ kind: "delta", changes: applied });
    } else if (before !== "synced" || this.#isReplaced) this.#notify({ kind: "snapshot" });
    this.#isReplaced = false;
  }

  #notify(report: BookDelta): void {
    for (const listen of this.listeners) listen(report, this);
  }

  #load(snapshot: BookSnapshot, source: "rest" | "stream", nowMs: number): boolean {
    const isNew = [
      this.bids.replace(snapshot.bids),
      this.asks.replace(snapshot.asks),
      this.#timestampMs !== snapshot.timestampMs,
    ].some(Boolean);
    this.#isReplaced ||= isNew;
    this.#facts = mergeFacts(snapshot.facts, this.#facts ?? snapshot.facts);
    this.#timestampMs = snapshot.timestampMs;
    this.#hash = snapshot.hash;
    this.#isHashChecked = snapshot.hash === null;
    this.#source = source;
    this.#version += 1;
    this.#heardAtMs = nowMs;
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
    this.#version += 1;
    this.#heardAtMs = nowMs;
  }

  /** Whether the book has these changes already. */
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
    return this.#fault === null && this.#isHashChecked && this.#hash !== null;
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
    // An answer is whole on its own: its hash can only be made in another way than ours.
    if (this.#source === "rest") this.#trust.noteFalseAlarm();
    this.#mismatch("hash_mismatch", nowMs);
  }

  /** `null` when the hash was compared before, or cannot be. */
  #isHashRight(): boolean | null {
    const facts = this.#facts;
    if (this.#isHashChecked || facts === null || !this.#hasAllFacts || !this.#trust.isUsable)
      return null;
    const { assetId } = this;
    const timestampMs = this.#timestampMs;
    return hashBook(this, { assetId, timestampMs, facts }) === this.#hash;
  }

  /** The hash matched, which proves every level: what was wrong with the book is over. */
  #confirm(nowMs: number): void {
    this.#isHashChecked = true;
    this.#confirmedAtMs = nowMs;
    if (this.#source === "stream") this.#trust.noteProven();
    if (!this.#isFollowed || this.#isCrossed || this.#fault === null) return;
    this.#fault = null;
    this.#attempts = 0;
    this.#dueAtMs = nowMs + venueLimits.bookRereadMs;
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
  };
}
