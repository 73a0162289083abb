import { feedLimits } from "../../base/config/cluster-limits.ts";
import { StartAgainError, toError } from "../../base/errors.ts";
import type { Hash } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { systemClock as clock } from "../../base/time/clock.ts";
import { WakeSignal } from "../../base/time/wake-signal.ts";
import type { Coverage } from "../../chain/raw-log.ts";
import type { FactReader } from "../../storage/server/fact-reader.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";
import type { Change } from "../change.ts";
import { type ChangeSource, type Check, type ObservedHead, staleSeconds } from "../intake.ts";
import type {
  ChangeFeed,
  FeedEntry,
  FeedPosition,
  IndexerStatus,
  LinkedBlock,
} from "./change-feed.ts";

type FollowerParts = {
  readonly feed: ChangeFeed;
  readonly reader: FactReader;
  /** The facts of `reader`, with their views. */
  readonly facts: IndexedFacts;
  readonly log: Log;
};

const unreadableFeed = "the feed cannot be read";

/** What a serving node knows about the feed. */
export type FeedStatus = FeedFollower["status"];

/**
 * The changes that a serving node takes in: unfinalized blocks from the feed, each linked to its parent, and committed
 * ranges from the store. After a gap in the feed, all of its blocks are read until they link.
 */
export class FeedFollower implements ChangeSource {
  readonly kind = "feed";
  readonly #parts: FollowerParts;
  readonly #closing = new AbortController();
  #position: FeedPosition | null = null;
  #hasGap = true;
  #fillDueMs = 0;
  #indexer: IndexerStatus | null = null;
  #observedMs: number | null = null;
  /** The newest head that an indexer has reported, and the monotonic time at which it last rose. */
  #head: { readonly number: number; readonly timestamp: number; readonly roseMs: number } | null =
    null;
  #announced = -1;
  readonly #announcement = new WakeSignal();
  #finding: Promise<Coverage | null> | null = null;
  /** What could not be read the last time. Each is logged once as a warning. */
  readonly #problems = new Set<string>();

  constructor(parts: FollowerParts) {
    this.#parts = parts;
  }

  get status() {
    const observedMs = this.#observedMs;
    return {
      /** Milliseconds since the newest message; `null` before the first. */
      ageMs: observedMs === null ? null : clock.monotonicMs() - observedMs,
      term: this.#position?.term ?? null,
      indexer: this.#indexer,
      /** Whether blocks are missing between ours and those of the feed. Meanwhile only final facts are followed. */
      hasGap: this.#hasGap,
    };
  }

  /** The head of the chain. It also ages while an indexer reports the same one, or none. */
  get head(): ObservedHead | null {
    if (this.#head === null) return null;
    const { roseMs, ...head } = this.#head;
    return { ...head, ageMs: clock.monotonicMs() - roseMs };
  }

  /**
   * For readiness: fails until a message of an indexer has arrived, and while the active one cannot follow the chain.
   * Without messages, the lag decides.
   */
  check(): Check {
    const { ageMs, indexer, hasGap, term } = this.status;
    if (ageMs === null || indexer === null) {
      return { ok: false, detail: "no message of an indexer has arrived yet" };
    }
    const age = `${indexer.node} is active, term ${term}, ${Math.round(ageMs / 1000)} s old`;
    const wrong = Object.entries(indexer.checks).filter(([, { ok }]) => !ok);
    const faults = wrong.map(([name, { detail }]) => `, ${name} of the indexer: ${detail}`);
    const { head } = this;
    const isStale = head !== null && staleSeconds(head) > 0;
    const isBlind = isStale && indexer.checks["chain"]?.ok === false;
    const stale = isStale ? `, no new block for ${staleSeconds(head)} s` : "";
    const detail = `${age}${hasGap ? ", blocks are missing" : ""}${stale}${faults.join("")}`;
    return { ok: !isBlind, detail };
  }

  /** The changes in order until closed. Each is produced after the previous one was taken in. Call this once. */
  async *changes(): AsyncGenerator<Change, void, undefined> {
    let reading: Promise<readonly FeedEntry[]> | null = null;
    while (!this.#closing.signal.aborted) {
      if (this.#hasGap && clock.monotonicMs() >= this.#fillDueMs) {
        reading = null;
        yield* this.#fillGap();
      }
      this.#finding ??= this.#findCommitted();
      reading ??= this.#read();
      const found = await Promise.race([this.#finding, reading]);
      if (found === null) return;
      if ("last" in found) {
        yield { kind: "committed", range: found };
        this.#finding = null;
        continue;
      }
      reading = null;
      const isReverted = found.some(({ message }) => message?.kind === "revert");
      if (isReverted && !(await this.#readReorgs())) this.#hasGap = true;
      for (const entry of found) {
        if (entry.message?.kind === "block") yield* this.#commitsBefore(entry.message.block.number);
        yield* this.#getChanges(entry);
      }
    }
  }

  close(): void {
    this.#closing.abort();
  }

  /**
   * Finds the next range that another process has committed, once all of its rows are there. Looks soon after an
   * announcement, and every `coverageEveryMs` without one. `null` once closed. Throws `StartAgainError`.
   */
  async #findCommitted(): Promise<Coverage | null> {
    const { reader } = this.#parts;
    const { signal } = this.#closing;
    // Every look costs the store several queries. The first one waits if all that was announced is covered.
    let looks = this.#announced !== reader.coverage?.last.number;
    for (; !signal.aborted; looks = true) {
      const { version } = this.#announcement;
      const range = looks
        ? await this.#ask(() => reader.verifyNext(), "commits cannot be read")
        : null;
      if (range !== null) return range;
      const isExpected = this.#announced > (reader.coverage?.last.number ?? -1);
      const waitMs = isExpected ? feedLimits.coverageRetryMs : feedLimits.coverageEveryMs;
      await this.#announcement.wait(version, waitMs, { clock, signal }).catch(() => {});
    }
    return null;
  }

  /** Waits for the commits that were announced before a block: it can arrive before the store shows them. */
  async *#commitsBefore(number: number): AsyncGenerator<Change, void, undefined> {
    const { facts } = this.#parts;
    const parent = number - 1;
    const isAwaited = () =>
      !this.#hasGap &&
      parent <= this.#announced &&
      parent > (facts.coverage?.last.number ?? -1) &&
      facts.hashAt(parent) === null;
    if (!isAwaited()) return;
    const deadline = clock.sleep(feedLimits.commitWaitMs, this.#closing.signal).catch(() => {});
    do {
      this.#finding ??= this.#findCommitted();
      const range = await Promise.race([this.#finding, deadline]);
      if (!range) return;
      yield { kind: "committed", range };
      this.#finding = null;
    } while (isAwaited());
  }

  /** Reads the next messages. Returns none after `readWaitMs` without messages, or when the feed is unavailable. */
  async #read(): Promise<readonly FeedEntry[]> {
    const { feed } = this.#parts;
    const after = this.#position;
    const read =
      after && (await this.#ask(() => feed.read(after, feedLimits.readWaitMs), unreadableFeed));
    if (read !== null) {
      // Even an idle indexer sends a status every second. The messages of an emptied feed count from 1 again.
      if (read.at(-1)?.position.epoch !== after?.epoch) this.#hasGap = true;
      return read;
    }
    await clock.sleep(feedLimits.retryMs, this.#closing.signal).catch(() => {});
    return [];
  }

  *#getChanges({ position, message }: FeedEntry): Generator<Change, void, undefined> {
    this.#position = position;
    this.#observedMs = clock.monotonicMs();
    this.#record(message);
    if (this.#hasGap) return;
    if (message?.kind === "revert") yield* this.#revertTo(message.safeBlock);
    else if (message?.kind === "block" && !(yield* this.#link([message]))) {
      this.#hasGap = true;
      const { number } = message.block;
      this.#parts.log.warn(
        { block: number },
        "change feed has a gap before this block; only finalized data is served until it is closed",
      );
    }
  }

  /** Takes in the part of a message that does not depend on earlier blocks. */
  #record(message: FeedEntry["message"]): void {
    const { log } = this.#parts;
    if (message === null) {
      log.error(
        "change feed has an unreadable message: its writer has another version or ODDWIRE_HMAC_PEPPER",
      );
      this.#hasGap = true;
    } else if (message.kind === "status") {
      const { node } = message.status;
      if (this.#indexer?.node !== node) log.info({ node }, "following a new active indexer");
      this.#indexer = message.status;
      const { head } = message.status;
      if (head !== null) {
        const { number, timestamp, ageMs = 0 } = head;
        this.#head = { number, timestamp, roseMs: clock.monotonicMs() - ageMs };
      }
    } else if (message.kind === "committed" && message.last.number > this.#announced) {
      this.#announced = message.last.number;
      this.#announcement.notify();
    }
  }

  /** Takes in the blocks that we do not have. Returns `false` at the first that does not link to ours. */
  *#link(blocks: readonly LinkedBlock[]): Generator<Change, boolean, undefined> {
    for (const linked of blocks) {
      const { block } = linked;
      if (this.#has(block)) continue;
      if (!this.#isLinked(linked)) return false;
      yield* this.#revertTo(block.number - 1);
      yield { kind: "block", block };
    }
    return true;
  }

  /** Reads all blocks of the feed and continues from there if they link to ours. */
  async *#fillGap(): AsyncGenerator<Change, void, undefined> {
    const { feed } = this.#parts;
    this.#fillDueMs = clock.monotonicMs() + feedLimits.retryMs;
    const head = await this.#ask(() => feed.head(), unreadableFeed);
    if (head === null || !(await this.#readReorgs())) return;
    this.#position = head.newest;
    if (head.isWhole) this.#hasGap = !(yield* this.#link(head.blocks));
  }

  /**
   * Reads the log of reorgs. It includes blocks that only other nodes served, and that clients can resume from here.
   * Returns `false` when the store does not answer.
   */
  async #readReorgs(): Promise<boolean> {
    const { reorgs, engine } = this.#parts.facts;
    const read = await this.#ask(() => reorgs.refresh(engine), "reorgs cannot be read");
    return read !== null;
  }

  /** Asks the feed or the store. Returns `null` when it does not answer. */
  async #ask<Answer>(ask: () => Promise<Answer>, problem: string): Promise<Answer | null> {
    try {
      const answer = await ask();
      this.#problems.delete(problem);
      return answer;
    } catch (thrown) {
      if (thrown instanceof StartAgainError) throw thrown;
      const level = this.#problems.has(problem) ? "debug" : "warn";
      this.#parts.log[level]({ err: toError(thrown) }, problem);
      this.#problems.add(problem);
      return null;
    }
  }

  *#revertTo(safeBlock: number): Generator<Change, void, undefined> {
    const { headBuffer, coverage } = this.#parts.facts;
    const safe = Math.max(safeBlock, coverage?.last.number ?? -1);
    if ((headBuffer.newest?.number ?? -1) > safe) yield { kind: "revert", safeBlock: safe };
  }

  /** Whether we have the block already. Blocks within the coverage count without comparing hashes. */
  #has({ number, hash }: { readonly number: number; readonly hash: Hash }): boolean {
    const { coverage } = this.#parts.facts;
    return number <= (coverage?.last.number ?? -1) || this.#parts.facts.hashAt(number) === hash;
  }

  #isLinked({ parentHash, block }: LinkedBlock): boolean {
    // A block without a parent is the first block of the indexer. It only links when we have no blocks at all.
    if (this.#parts.facts.newestBlock === null) return parentHash === null;
    return parentHash !== null && this.#parts.facts.hashAt(block.number - 1) === parentHash;
  }
}
