/** The side that writes: follows the chain from where the store ends. What it cannot repair stops it. */
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

/** The parts of the service by name: whether each works, and a sentence about it. */
export type Checks = Record<string, { ok: boolean; detail: string }>;

/** What went through, and how the chain source is; `null` where it is not in this process. */
export type IndexingStatus = {
  readonly pipeline: PipelineStatus;
  readonly chain: ChainStatus | null;
};

/** Where indexing starts. */
export type IndexingStart = {
  readonly config: Config;
  readonly contracts: Contracts;
  /** The block that the data folder was started with; `null` for a new one. */
  readonly startedAt: number | null;
};

type IndexerParts = IndexingStart & {
  /** Connecting already; closed with the indexer. */
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
  /** Why indexing stopped for good; `null` while it goes on. */
  #halted: Error | null = null;

  /** Throws `ConfigError` when the start block lies before what the data folder covers. */
  constructor(parts: IndexerParts) {
    this.#parts = parts;
    this.#pipeline = new Pipeline(parts);
    refuseEarlierStart(parts);
  }

  /**
   * Begins as soon as the nodes are connected. Throws `WrongChainError` when one serves another chain.
   * `onFailure` is called once if indexing ends for any reason but a final block that is gone: only a restart helps.
   */
  async start(onFailure: (error: Error) => void): Promise<void> {
    const { chain, store, log } = this.#parts;
    await chain.follow(store.coverage?.last ?? null, store.writer?.claims?.ends ?? []);
    this.#running = this.#pipeline.run(this.#changes()).catch(async (thrown: unknown) => {
      this.#halted = toError(thrown);
      log.fatal({ err: this.#halted }, "indexing has stopped");
      await chain.close();
      // A chain that reverted finalized blocks is for people to judge; what is stored stays true.
      if (!(thrown instanceof ReorgBeyondFinalityError)) onFailure(this.#halted);
    });
  }

  /** The changes of the chain; where they start is stored before the first is passed on. */
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

  standing(): SyncStatus {
    return syncStatusOf(this.#parts.store, this.#head, this.#pipeline.status);
  }

  /** What it has counted; `chain` is `null` until the nodes are connected. */
  get status(): IndexingStatus {
    return { pipeline: this.#pipeline.status, chain: this.#parts.chain.status };
  }

  /** What readiness depends on; `missingBlocks` is `null` when the store cannot know. */
  checks(missingBlocks: number | null): Checks {
    const { config, store } = this.#parts;
    return {
      store: storeCheck(store.engine.insertProblem, missingBlocks),
      chain: this.#chainCheck(),
      coverage: coverageCheck(store.coverage, missingBlocks),
      lag: lagCheck(this.freshness(), config.readyLagSecondsMax),
    };
  }

  /** Stops after the batch at hand, so that nothing is left half written. */
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

/** Whether the store answers, and takes rows. */
export function storeCheck(
  insertProblem: string | null,
  missingBlocks: number | null,
): Checks[string] {
  if (insertProblem !== null) return { ok: false, detail: `appends wait: ${insertProblem}` };
  return { ok: missingBlocks !== null, detail: missingBlocks === null ? "no answer" : "open" };
}

/** Whether answers are fresh enough. Seconds. */
export function lagCheck(
  { indexed_block, head_block, lag_seconds }: Freshness,
  secondsMax: number,
): Checks[string] {
  if (lag_seconds === null) return { ok: false, detail: "nothing indexed yet" };
  const detail = `block ${indexed_block} of ${head_block}, ${lag_seconds} s behind`;
  return { ok: lag_seconds <= secondsMax, detail };
}

/** Whether what is covered is there without a gap. */
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

/** The block that indexing starts with, unless later ones are stored. */
export function startBlockOf({ config, contracts, startedAt }: IndexingStart): number | "latest" {
  const wanted = config.startBlock === "genesis" ? contracts.genesisBlock : config.startBlock;
  if (startedAt === null) return wanted;
  // What was served once is served again, also if nothing of it was final yet.
  return wanted === "latest" ? startedAt : Math.min(wanted, startedAt);
}

/** Coverage grows upwards only: a hole below would be sent as history without trades. */
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
