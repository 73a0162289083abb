import { openLog } from "../../src/base/log.ts";
import type { ChainSource } from "../../src/chain/sync/chain-source.ts";
import type { ChainChange } from "../../src/feed/change.ts";
import { Pipeline } from "../../src/feed/pipeline.ts";
import { MarketState } from "../../src/views/markets/market-state.ts";
import { appendPart, tables } from "../support/append-part.ts";
import { getChanges } from "../support/encode-batches.ts";
import { MemoryStateStore } from "../support/memory-state-store.ts";
import { isEngineBusy } from "../support/open-facts.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import { encode } from "../support/store-chain.ts";
import type { StoreFolder } from "../support/store-folder.ts";
import { AnnouncedBlocks } from "./announced-blocks.ts";
import { contracts, decoder, type Subject } from "./simulation.ts";

const silent = openLog({ level: "silent" });

/** A subject with the real pipeline, the real store and the state in memory. */
export class StoreSubject implements Subject {
  readonly #folder: StoreFolder;
  readonly reported = new AnnouncedBlocks();
  state = new MarketState(contracts, new MemoryStateStore());
  /** Whether the pipeline applies a change, or a crash and restart is in progress. */
  #isAtWork = false;
  /** The newest final block that the pipeline was given. */
  #finalReported = -1;

  constructor(folder: StoreFolder) {
    this.#folder = folder;
  }

  get resumeAfter() {
    return this.#folder.store.coverage?.last ?? null;
  }

  /** Also true while final blocks are appended in the background. */
  get isBusy(): boolean {
    // During a restart no store is open.
    if (this.#isAtWork) return true;
    const isAppending = this.#finalReported > (this.resumeAfter?.number ?? -1);
    return isAppending || isEngineBusy();
  }

  get newest() {
    if (this.#isAtWork) return null;
    return this.#folder.store.headBuffer.newest ?? this.resumeAfter;
  }

  get finalized(): number {
    return this.#isAtWork ? -1 : (this.resumeAfter?.number ?? -1);
  }

  async follow(source: ChainSource): Promise<void> {
    const { store } = this.#folder;
    const batches = source.batches({ resumeAfter: this.resumeAfter, rangeEnds: [] });
    // Groups must not wait in real time, because simulated time would run on.
    const pipeline = new Pipeline({ facts: store, state: this.state, log: silent, groupWaitMs: 0 });
    await pipeline.run(
      this.#timed(
        getChanges(this.reported.listen(batches), decoder, this.reported.getProofs(source)),
      ),
    );
    this.#isAtWork = false;
  }

  /** Crashes in the middle of an append of its unfinalized blocks, then restarts like the service. */
  async crash(random: SeededRandom): Promise<void> {
    this.#isAtWork = true;
    const { store } = this.#folder;
    const held = store.headBuffer.blocks.slice(0, random.integer(0, 8));
    if (held.length > 0)
      await appendPart(store, encode(held), tables.slice(0, random.integer(0, 4)));
    this.state = new MarketState(contracts, new MemoryStateStore());
    await (await this.#folder.reopen()).loadView(this.state);
    this.#isAtWork = false;
  }

  /** Makes simulated time stand still while the pipeline applies a change. */
  async *#timed(change: AsyncIterable<ChainChange>): AsyncGenerator<ChainChange> {
    for await (const one of change) {
      this.#isAtWork = true;
      if (one.kind === "range") this.#finalReported = one.batch.last.number;
      // These blocks are appended while the next changes are applied.
      if (one.kind === "finalized") this.#finalReported = one.block;
      yield one;
      this.#isAtWork = false;
    }
    this.#isAtWork = true;
  }
}
