import { lastSeqOf } from "../base/ids.ts";
import { roundToThousandths } from "../base/round.ts";
import type { Clock } from "../base/time/clock.ts";
import type { Freshness } from "../rows/freshness.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import type { MarketState } from "../views/markets/market-state.ts";
import type { PipelineStatus } from "./pipeline.ts";

/** The progress of the indexing. Counts are since the start of the process, blocks are numbers. */
export type SyncStatus = {
  /** The first block covered; `null` before anything is stored for good. */
  readonly from: number | null;
  readonly indexed: number | null;
  readonly head: number | null;
  readonly fills: number;
  /** Of all kinds, fills included. */
  readonly events: number;
};

/** The head of the chain as it was heard last; one that is stale may have moved on. Unix seconds. */
export type HeardHead = {
  readonly number: number;
  readonly timestamp: number;
  readonly isStale?: boolean;
};

/** How fresh answers are; chain time in seconds. */
export function freshnessOf(
  { store, state }: { readonly store: IndexedFacts; readonly state: MarketState },
  head: HeardHead | null,
): Freshness {
  const indexed = store.newestBlock;
  const isCurrent = indexed !== null && head?.isStale !== true && indexed >= (head?.number ?? 0);
  const behindSeconds = isCurrent || head === null ? 0 : head.timestamp - state.dayWindow.now;
  return {
    indexed_block: indexed,
    indexed_seq: indexed === null ? null : lastSeqOf(indexed),
    head_block: head?.number ?? null,
    finalized_block: store.coverage?.last.number ?? null,
    lag_seconds: head === null || indexed === null ? null : Math.max(0, behindSeconds),
  };
}

/** How far indexing is, and what it has counted. */
export function syncStatusOf(
  { coverage, newestBlock }: IndexedFacts,
  head: HeardHead | null,
  { fills, events }: PipelineStatus,
): SyncStatus {
  const from = coverage?.fromBlock ?? null;
  return { from, indexed: newestBlock, head: head?.number ?? null, fills, events: events.total };
}

/** A catching up with the head. */
export type Backfill = NonNullable<Pace["backfill"]>;

/** Fewer blocks behind than this is following the head, not catching up. */
const catchingUpBlocksMin = 100;

/** How fast the indexing goes, and how long it will take: for the console and for metrics. */
export class Pace {
  readonly #read: () => SyncStatus;
  readonly #clock: Clock;
  #before: { readonly standing: SyncStatus; readonly atMs: number } | null = null;
  #rates: Record<`${"blocks" | "fills" | "events"}PerSecond`, number> | null = null;

  constructor(options: { read: () => SyncStatus; clock: Clock }) {
    this.#read = options.read;
    this.#clock = options.clock;
  }

  /** Called at steady intervals, by `Progress`: rates, those of the metrics too, are since the call before. */
  measure(): void {
    const standing = this.#read();
    const atMs = this.#clock.monotonicMs();
    const before = this.#before;
    this.#before = { standing, atMs };
    if (before === null || atMs <= before.atMs) return;
    const seconds = (atMs - before.atMs) / 1000;
    const perSecond = (read: (standing: SyncStatus) => number | null) => {
      const [now, then] = [read(standing), read(before.standing)];
      // A fork can revert more blocks than have come in.
      if (now === null || then === null) return 0;
      return roundToThousandths(Math.max(0, now - then) / seconds);
    };
    this.#rates = {
      blocksPerSecond: perSecond(({ indexed }) => indexed),
      fillsPerSecond: perSecond(({ fills }) => fills),
      eventsPerSecond: perSecond(({ events }) => events),
    };
  }

  /** How much came in between the last two measurements; `null` before the second. */
  get rates() {
    return this.#rates;
  }

  /** `null` while the head is followed, and while nothing is known of it. */
  get backfill() {
    const { from, indexed, head } = this.#read();
    if (from === null || indexed === null || head === null) return null;
    const left = head - indexed;
    if (left < catchingUpBlocksMin) return null;
    const rates = this.#rates;
    const isMoving = rates !== null && rates.blocksPerSecond > 0;
    return {
      fromBlock: from,
      indexedBlock: indexed,
      toBlock: head,
      /** The share of the blocks that is indexed, 0 to 1. */
      progress: (indexed - from + 1) / (head - from + 1),
      rates,
      /** At this rate; `null` while nothing moves. */
      secondsLeft: isMoving ? Math.round(left / rates.blocksPerSecond) : null,
    };
  }
}
