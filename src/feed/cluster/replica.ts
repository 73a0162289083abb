/** The reading side of a serving node: takes in what an indexer in another process stores and publishes. */

import { feedLimits } from "../../base/config/cluster-limits.ts";
import type { Config } from "../../base/config/config.ts";
import { StartAgainError, toError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Freshness } from "../../rows/freshness.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";
import type { MarketState } from "../../views/markets/market-state.ts";
import {
  type Checks,
  coverageCheck,
  type IndexingStatus,
  lagCheck,
  storeCheck,
} from "../indexer.ts";
import { Pipeline, type Subscribers } from "../pipeline.ts";
import { freshnessOf, type HeardHead, type SyncStatus, syncStatusOf } from "../sync-progress.ts";
import type { FeedFollower } from "./feed-follower.ts";

type ReplicaParts = {
  readonly config: Config;
  readonly store: IndexedFacts;
  readonly state: MarketState;
  readonly subscribers: Subscribers;
  readonly follower: FeedFollower;
  readonly log: Log;
};

export class Replica {
  readonly #parts: ReplicaParts;
  readonly #pipeline: Pipeline;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: ReplicaParts) {
    this.#parts = parts;
    this.#pipeline = new Pipeline(parts);
  }

  /** Calls `onFailure` once if following fails. Only a restart helps then. */
  start(onFailure: (error: Error) => void): void {
    const { follower, log } = this.#parts;
    this.#running = this.#pipeline.run(follower.changes()).catch((thrown: unknown) => {
      const error = toError(thrown);
      if (error instanceof StartAgainError) log.warn("stored blocks are repaired");
      else log.fatal({ err: error }, "following the feed has stopped");
      onFailure(error);
    });
  }

  freshness(): Freshness {
    return freshnessOf(this.#parts, this.#head);
  }

  syncStatus(): SyncStatus {
    return syncStatusOf(this.#parts.store, this.#head, this.#pipeline.status);
  }

  get status(): IndexingStatus {
    return { pipeline: this.#pipeline.status, chain: null };
  }

  /** The checks that readiness depends on. `missingBlocks`: see `Indexer.checks`. */
  checks(missingBlocks: number | null): Checks {
    const { config, store } = this.#parts;
    return {
      store: storeCheck(null, missingBlocks),
      feed: this.#feedCheck(),
      coverage: coverageCheck(store.coverage, missingBlocks),
      lag: lagCheck(this.freshness(), config.readyLagSecondsMax),
    };
  }

  async close(): Promise<void> {
    this.#parts.follower.close();
    await this.#running;
  }

  #feedCheck(): Checks[string] {
    const { ageMs, indexer, hasHole, term } = this.#parts.follower.status;
    if (ageMs === null || indexer === null) {
      return { ok: false, detail: "no indexer has been heard of" };
    }
    const age = `${indexer.node} is active, term ${term}, ${Math.round(ageMs / 1000)} s old`;
    const wrong = Object.entries(indexer.checks).filter(([, { ok }]) => !ok);
    const faults = wrong.map(([name, { detail }]) => `, ${name} of the indexer: ${detail}`);
    return { ok: true, detail: `${age}${hasHole ? ", blocks are missing" : ""}${faults.join("")}` };
  }

  /** The head of the chain. While the feed is stale, its timestamp is assumed to have moved on with the clock. */
  get #head(): HeardHead | null {
    const { indexer, ageMs } = this.#parts.follower.status;
    if (!indexer?.head || ageMs === null) return null;
    const isStale = ageMs > feedLimits.staleMs;
    const { number, timestamp } = indexer.head;
    return { number, timestamp: timestamp + (isStale ? Math.floor(ageMs / 1000) : 0), isStale };
  }
}
