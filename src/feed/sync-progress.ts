import { roundToThousandths } from "../base/round.ts";
import type { Clock } from "../base/time/clock.ts";

/** The progress of indexing. Blocks are block numbers; counts are since the start of the process. */
export type SyncStatus = {
  /** The first covered block; `null` before final facts are stored. */
  readonly from: number | null;
  readonly indexed: number | null;
  readonly head: number | null;
  readonly fills: number;
  /** Events of all kinds, including fills. */
  readonly events: number;
};

/** The progress of a backfill. */
export type Backfill = NonNullable<SyncProgress["backfill"]>;

/** A process that is fewer blocks behind than this follows the head; it does not catch up. */
const catchingUpBlocksMin = 100;

/** Measures the speed of indexing and estimates the time left, for the console and for metrics. */
export class SyncProgress {
  readonly #read: () => SyncStatus;
  readonly #clock: Clock;
  #before: { readonly status: SyncStatus; readonly atMs: number } | null = null;
  #rates: Record<`${"blocks" | "fills" | "events"}PerSecond`, number> | null = null;

  constructor(options: { read: () => SyncStatus; clock: Clock }) {
    this.#read = options.read;
    this.#clock = options.clock;
  }

  /** Called at steady intervals by `logProgress`. Rates, also in metrics, cover the time since the previous call. */
  measure(): void {
    const status = this.#read();
    const atMs = this.#clock.monotonicMs();
    const before = this.#before;
    this.#before = { status, atMs };
    if (before === null || atMs <= before.atMs) return;
    const seconds = (atMs - before.atMs) / 1000;
    const perSecond = (read: (status: SyncStatus) => number | null) => {
      const [now, then] = [read(status), read(before.status)];
      // A reorg can revert more blocks than have come in.
      if (now === null || then === null) return 0;
      return roundToThousandths(Math.max(0, now - then) / seconds);
    };
    this.#rates = {
      blocksPerSecond: perSecond(({ indexed }) => indexed),
      fillsPerSecond: perSecond(({ fills }) => fills),
      eventsPerSecond: perSecond(({ events }) => events),
    };
  }

  /** The rates between the last two measurements; `null` before the second. */
  get rates() {
    return this.#rates;
  }

  /** The progress of the backfill; `null` while the head is followed or not known. */
  get backfill() {
    const { from, indexed, head } = this.#read();
    if (from === null || indexed === null || head === null) return null;
    const remaining = head - indexed;
    if (remaining < catchingUpBlocksMin) return null;
    const rates = this.#rates;
    const isMoving = rates !== null && rates.blocksPerSecond > 0;
    return {
      fromBlock: from,
      indexedBlock: indexed,
      toBlock: head,
      /** The share of blocks that are indexed, 0 to 1. */
      progress: (indexed - from + 1) / (head - from + 1),
      rates,
      /** Seconds left at this rate; `null` while nothing moves. */
      secondsLeft: isMoving ? Math.round(remaining / rates.blocksPerSecond) : null,
    };
  }
}
