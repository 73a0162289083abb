/** The writing side: follows the chain from the end of the store. An error that it cannot repair stops it. */
import type { Config } from "../base/config/config.ts";
import { ConfigError } from "../base/config/config.ts";
import { toError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { ReorgBeyondFinalityError } from "../chain/chain-errors.ts";
import type { ChainStatus } from "../chain/sync/chain-source.ts";
import type { Contracts } from "../contracts/contracts.ts";
import type { Freshness } from "../rows/freshness.ts";
import { recordStartBlock } from "../storage/embedded/data-folder.ts";
import type { Coverage } from "../storage/recover.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import type { MarketState } from "../views/markets/market-state.ts";
import type { ChainThread } from "./chain-thread.ts";
import type { ChainChange } from "./change.ts";
import { Pipeline, type PipelineStatus, type Subscribers } from "./pipeline.ts";
import { freshnessOf, type HeardHead, type SyncStatus, syncStatusOf } from "./sync-progress.ts";

/** The checks of readiness by name: whether each part of the service works, and a sentence about it. */
export type Checks = Record<string, { ok: boolean; detail: string }>;

/** The counts of the pipeline, and the status of the chain source; `null` where the source is not in this process. */
export type IndexingStatus = {
  readonly pipeline: PipelineStatus;
  readonly chain: ChainStatus | null;
};

/** What decides where indexing starts. */
export type IndexingStart = {
  readonly config: Config;
  readonly contracts: Contracts;
  /** The first block that the data folder was started with; `null` for a new folder. */
  readonly startedAt: number | null;
};

type IndexerParts = IndexingStart & {
  /** Connects already. Closed with the indexer. */
  readonly chain: ChainThread;
  readonly store: IndexedFacts;
  readonly state: MarketState;
  readonly subscribers: Subscribers;
  readonly log: Log;
};

export class Indexer {
  readonly #parts: IndexerParts;
  readonly #pipeline: Pipeline;
  #running: Promise<void> = Promise.resolve();
  /** The error that stopped indexing for good; `null` while it runs. */
  #halted: Error | null = null;

  /** Throws `ConfigError` when the start block lies before what the data folder covers. */
  constructor(parts: IndexerParts) {
    this.#parts = parts;
    this.#pipeline = new Pipeline(parts);
    refuseEarlierStart(parts);
  }

  /**
   * Begins once the nodes are connected. Throws `WrongChainError` when a node serves another chain.
   * Calls `onFailure` once if indexing fails, because then only a restart helps; not after a reorg beyond finality.
   */
  async start(onFailure: (error: Error) => void): Promise<void> {
    const { chain, store, log } = this.#parts;
    await chain.follow(store.coverage?.last ?? null, store.writer?.claims?.ends ?? []);
    this.#running = this.#pipeline.run(this.#changes()).catch(async (thrown: unknown) => {
      this.#halted = toError(thrown);
      log.fatal({ err: this.#halted }, "indexing has stopped");
      await chain.close();
      // When the chain reverted finalized blocks, the operator decides. Until then the stored facts are served.
      if (!(thrown instanceof ReorgBeyondFinalityError)) onFailure(this.#halted);
    });
  }

  /** The changes of the chain. Records the start block before it passes on the first change. */
  async *#changes(): AsyncGenerator<ChainChange, void, undefined> {
    const { chain, config, store, startedAt } = this.#parts;
    let isRecorded = startedAt !== null || store.coverage !== null;
    for await (const change of chain.changes()) {
      if (!isRecorded && (change.kind === "range" || change.kind === "block")) {
        const first = change.kind === "range" ? change.batch.fromBlock : change.block.number;
        await recordStartBlock(config.dataDir, first);
        isRecorded = true;
      }
      yield change;
    }
  }

  freshness(): Freshness {
    return freshnessOf(this.#parts, this.#head);
  }

  syncStatus(): SyncStatus {
    return syncStatusOf(this.#parts.store, this.#head, this.#pipeline.status);
  }

  /** Counts and the status of the chain source; `chain` is `null` until the nodes are connected. */
  get status(): IndexingStatus {
    return { pipeline: this.#pipeline.status, chain: this.#parts.chain.status };
  }

  /** The checks that readiness depends on. `missingBlocks`: gaps in the coverage; `null` when the store cannot know. */
  checks(missingBlocks: number | null): Checks {
    const { config, store } = this.#parts;
    return {
      store: storeCheck(store.engine.insertProblem, missingBlocks),
      chain: this.#chainCheck(),
      coverage: coverageCheck(store.coverage, missingBlocks),
      lag: lagCheck(this.freshness(), config.readyLagSecondsMax),
    };
  }

  /** Stops after the current batch, so that nothing is left half written. */
  async close(): Promise<void> {
    await this.#parts.chain.close();
    await this.#running;
  }

  get #head(): HeardHead | null {
    return this.#parts.chain.status?.head ?? null;
  }

  #chainCheck(): Checks[string] {
    if (this.#halted !== null) return { ok: false, detail: this.#halted.message };
    const { status } = this.#parts.chain;
    if (status === null) return { ok: false, detail: "connecting" };
    if (status.warnings.includes("no_endpoint")) {
      return { ok: false, detail: "no RPC endpoint is healthy; see the log" };
    }
    const ignored = status.endpoints.filter(({ isHeadBelieved }) => !isHeadBelieved);
    const details = [...status.warnings, ...ignored.map(({ host }) => `ignored: ${host}`)];
    const suffix = details.length === 0 ? "" : ` (${details.join(", ")})`;
    return { ok: status.head !== null, detail: `following${suffix}` };
  }
}

/** Checks whether the store answers and accepts rows. */
export function storeCheck(
  insertProblem: string | null,
  missingBlocks: number | null,
): Checks[string] {
  if (insertProblem !== null) return { ok: false, detail: `appends wait: ${insertProblem}` };
  return { ok: missingBlocks !== null, detail: missingBlocks === null ? "no answer" : "open" };
}

/** Checks whether answers lag behind the head of the chain by at most `secondsMax` seconds. */
export function lagCheck(
  { indexed_block, head_block, lag_seconds }: Freshness,
  secondsMax: number,
): Checks[string] {
  if (lag_seconds === null) return { ok: false, detail: "nothing indexed yet" };
  const detail = `block ${indexed_block} of ${head_block}, ${lag_seconds} s behind`;
  return { ok: lag_seconds <= secondsMax, detail };
}

/** Checks whether the coverage has no gaps. */
export function coverageCheck(
  covered: Coverage | null,
  missingBlocks: number | null,
): Checks[string] {
  if (covered === null) return { ok: true, detail: "nothing finalized yet" };
  const blocks = `blocks ${covered.fromBlock} to ${covered.last.number}`;
  if (missingBlocks === null) return { ok: false, detail: `${blocks}, gaps not known` };
  return missingBlocks === 0
    ? { ok: true, detail: `${blocks} without a gap` }
    : { ok: false, detail: `${blocks}, of which ${missingBlocks} are missing` };
}

/** Returns the block that indexing starts with when nothing is stored yet. */
export function startBlockOf({ config, contracts, startedAt }: IndexingStart): number | "latest" {
  const wanted = config.startBlock === "genesis" ? contracts.genesisBlock : config.startBlock;
  if (startedAt === null) return wanted;
  // Blocks that were served once are served again, even if none of them was final yet.
  return wanted === "latest" ? startedAt : Math.min(wanted, startedAt);
}

/** Coverage only grows upwards: a gap below it would be served as history without trades. */
function refuseEarlierStart(parts: IndexerParts): void {
  const { config, store } = parts;
  const start = startBlockOf(parts);
  const covered = store.coverage;
  if (covered === null || start === "latest" || start >= covered.fromBlock) return;
  throw new ConfigError([
    `ODDWIRE_START_BLOCK=${config.startBlock} is before block ${covered.fromBlock}, where ` +
      `${config.dataDir} starts; use another ODDWIRE_DATA_DIR for an earlier start`,
  ]);
}
