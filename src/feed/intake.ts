import type { Config } from "../base/config/config.ts";
import { StartAgainError, toError } from "../base/errors.ts";
import { type Address, toLastSeq } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { systemClock } from "../base/time/clock.ts";
import { ReorgBeyondFinalityError } from "../chain/chain-errors.ts";
import type { Coverage } from "../chain/raw-log.ts";
import type { Freshness } from "../rows/freshness.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import type { MarketState } from "../views/markets/market-state.ts";
import type { UnknownContract } from "../views/unknown-contracts.ts";
import { BlockClock } from "./block-clock.ts";
import type { Change } from "./change.ts";
import { Pipeline, type PipelineStatus, type Subscribers } from "./pipeline.ts";
import { SyncProgress } from "./sync-progress.ts";

/** A check of readiness: whether a part of the service works, and a sentence about it. */
export type Check = { ok: boolean; detail: string };

/** The checks of readiness by name. */
export type Checks = Record<string, Check>;

/** The newest known head of the chain; time in Unix seconds. Its age is the time since it last rose. */
export type ObservedHead = {
  readonly number: number;
  readonly timestamp: number;
  readonly ageMs: number;
};

/** A head that has not risen for this long is stale: five blocks of Polygon. */
export const headStaleMs = 10_000;

/** Where changes come from: the chain, or the feed of an indexer in another process. */
export type ChangeSource = {
  readonly kind: "chain" | "feed";
  /** `null` until the source reports a head. */
  readonly head: ObservedHead | null;
  check(): Check;
  close(): void | Promise<void>;
};

/** What is taken in, where it goes, and what the checks are measured by. */
type IntakeParts = {
  /** Closed with the intake. */
  readonly source: ChangeSource;
  readonly config: Pick<Config, "readyLagSecondsMax">;
  readonly facts: IndexedFacts;
  readonly state: MarketState;
  readonly subscribers: Subscribers;
  readonly log: Log;
};

/** Takes in the changes of a source, and reports how far it is. An error that it cannot repair stops it. */
export class Intake {
  readonly #parts: IntakeParts;
  readonly #pipeline: Pipeline;
  #running: Promise<void> = Promise.resolve();
  /** The error that stopped the intake for good; `null` while it runs. */
  #halted: Error | null = null;
  readonly progress: SyncProgress;
  readonly #warned = new Set<Address>();
  readonly blockClock: BlockClock;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
    this.blockClock = new BlockClock(systemClock, parts.log);
    this.#pipeline = new Pipeline({ ...parts, subscribers: this.#withWarnings(parts.subscribers) });
    this.progress = new SyncProgress({ read: () => this.#syncStatus(), clock: systemClock });
  }

  /**
   * Takes in the changes of the source, stopping after the current batch when it is closed. Calls `onFailure` once if
   * that fails, because then only a restart helps; not after a reorg beyond finality.
   */
  start(changes: AsyncIterable<Change>, onFailure: (error: Error) => void): void {
    const { source, log } = this.#parts;
    this.#warnOfContracts();
    this.#running = this.#pipeline.run(changes).catch(async (thrown: unknown) => {
      const error = toError(thrown);
      this.#halted = error;
      if (error instanceof StartAgainError)
        log.warn({ err: error }, "indexing stopped; the service restarts to continue");
      else log.fatal({ err: error }, "indexing stopped");
      await source.close();
      // When the chain reverted finalized blocks, the operator decides. Until then the stored facts are served.
      if (!(error instanceof ReorgBeyondFinalityError)) onFailure(error);
    });
  }

  get counts(): PipelineStatus {
    return this.#pipeline.status;
  }

  /** How fresh answers are. The lag is in seconds of chain time. A stale head is assumed to have moved on since. */
  freshness(): Freshness {
    const { facts, state, source } = this.#parts;
    const { head } = source;
    const indexed = facts.newestBlock;
    const isCurrent = head === null || (indexed ?? -1) >= head.number;
    const behindSeconds = isCurrent ? 0 : Math.max(0, head.timestamp - state.dayWindow.now);
    const { first } = facts;
    return {
      first_block: first?.number ?? null,
      first_timestamp_ms: first === null ? null : first.timestamp * 1000,
      indexed_block: indexed,
      indexed_seq: indexed === null ? null : toLastSeq(indexed),
      head_block: this.#headNumber,
      finalized_block: facts.coverage?.last.number ?? null,
      lag_seconds: head === null || indexed === null ? null : behindSeconds + staleSeconds(head),
    };
  }

  /** Milliseconds since the head of the chain last rose; `null` while no head is known. */
  get headAgeMs(): number | null {
    return this.#parts.source.head?.ageMs ?? null;
  }

  /** The checks that readiness depends on. `missingBlocks`: gaps in the coverage; `null` when the store cannot know. */
  checks(missingBlocks: number | null): Checks {
    const { source, config, facts } = this.#parts;
    const halted = this.#halted;
    // Nodes that answer follow a chain that stands still. A feed without a new head can have lost its indexer.
    const isFollowed = source.kind === "chain" && source.head !== null;
    const staleFor = isFollowed ? staleSeconds(source.head) : 0;
    return {
      store: storeCheck(facts.engine.meter.insertProblem, missingBlocks),
      [source.kind]: halted === null ? source.check() : { ok: false, detail: halted.message },
      coverage: coverageCheck(facts.coverage, missingBlocks),
      lag: lagCheck(this.freshness(), config.readyLagSecondsMax + staleFor),
      contracts: contractsCheck(this.unknownContracts),
      // Without harm: times in responses are those of blocks.
      clock: { ok: true, detail: this.blockClock.detail },
    };
  }

  /** The contracts in use that are not configured. */
  get unknownContracts(): readonly UnknownContract[] {
    return this.#parts.state.directory.unknownContracts.all;
  }

  /** The subscribers; before they are called, contracts that are named are logged, and new blocks compared with the clock. */
  #withWarnings(subscribers: Subscribers): Subscribers {
    return {
      unfinalized: (block) => {
        this.#warnOfContracts();
        // A block that is read late, after the head, says nothing about the clock.
        const { head } = this.#parts.source;
        if (head === null || block.number >= head.number) this.blockClock.observe(block.timestamp);
        subscribers.unfinalized(block);
      },
      reverting: (safeBlock, removed) => subscribers.reverting(safeBlock, removed),
      appended: (delta) => {
        this.#warnOfContracts();
        subscribers.appended(delta);
      },
      finalized: (blocks) => subscribers.finalized(blocks),
    };
  }

  /** Logs the contracts that are not configured, each once. */
  #warnOfContracts(): void {
    for (const { address, role, namedBy, block } of this.unknownContracts) {
      if (this.#warned.has(address)) continue;
      this.#warned.add(address);
      const message =
        "contract is in use but not configured, so its logs are not indexed; upgrade Oddwire";
      this.#parts.log.warn({ contract: address, role, named_by: namedBy, block }, message);
    }
  }

  /** Stops after the current batch, so that nothing is left half written. */
  async close(): Promise<void> {
    await this.#parts.source.close();
    await this.#running;
  }

  /** A block can be indexed before the source names it as the head. */
  get #headNumber(): number | null {
    const { source, facts } = this.#parts;
    return source.head === null ? null : Math.max(source.head.number, facts.newestBlock ?? 0);
  }

  #syncStatus() {
    const { facts } = this.#parts;
    const { fills, events } = this.counts;
    const from = facts.coverage?.fromBlock ?? null;
    const head = this.#headNumber;
    return { from, indexed: facts.newestBlock, head, fills, events: events.total };
  }
}

/** Returns the age of a head that is stale, in seconds; 0 for any other. */
export function staleSeconds({ ageMs }: Pick<ObservedHead, "ageMs">): number {
  return ageMs > headStaleMs ? Math.floor(ageMs / 1000) : 0;
}

/** Names the contracts in use that are not configured. They do not make the service unready. */
function contractsCheck(unknown: readonly UnknownContract[]): Check {
  const names = unknown.map(
    ({ address, role, block }) => `${role} ${address} since block ${block}`,
  );
  return { ok: true, detail: names.length === 0 ? "known" : `not configured: ${names.join(", ")}` };
}

function storeCheck(insertProblem: string | null, missingBlocks: number | null): Check {
  if (insertProblem !== null) return { ok: false, detail: `appends wait: ${insertProblem}` };
  return {
    ok: missingBlocks !== null,
    detail: missingBlocks === null ? "the store does not answer" : "open",
  };
}

/** Checks whether answers lag behind the head of the chain by at most `secondsMax` seconds. */
function lagCheck(
  { indexed_block, head_block, lag_seconds }: Freshness,
  secondsMax: number,
): Check {
  if (indexed_block === null) return { ok: false, detail: "nothing indexed yet" };
  if (lag_seconds === null) return { ok: false, detail: "the head of the chain is not known yet" };
  const detail = `block ${indexed_block} of ${head_block}, ${lag_seconds} s behind`;
  return { ok: lag_seconds <= secondsMax, detail };
}

function coverageCheck(covered: Coverage | null, missingBlocks: number | null): Check {
  if (covered === null) return { ok: true, detail: "nothing finalized yet" };
  const blocks = `blocks ${covered.fromBlock} to ${covered.last.number}`;
  if (missingBlocks === null) return { ok: false, detail: `${blocks}, gaps not known` };
  return missingBlocks === 0
    ? { ok: true, detail: `${blocks} without a gap` }
    : { ok: false, detail: `${blocks}, of which ${missingBlocks} are missing` };
}
