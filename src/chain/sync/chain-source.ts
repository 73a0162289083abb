import { assert } from "../../base/assert.ts";
import { closeOnError } from "../../base/close-on-error.ts";
import { toError } from "../../base/errors.ts";
import type { Address } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { type Clock, systemClock } from "../../base/time/clock.ts";
import type { ChainContext } from "../chain-context.ts";
import {
  type Block,
  type BlockRef,
  type ChainBatch,
  type TimedBlock,
  toTimedBlock,
} from "../raw-log.ts";
import type { ChainWarning } from "../rpc/chain-warning.ts";
import { Endpoint } from "../rpc/endpoint.ts";
import { EndpointPool } from "../rpc/endpoint-pool.ts";
import { HttpTransport } from "../rpc/http-transport.ts";
import type { OnHead, OnLost, OpenTransport, Transport } from "../rpc/transport.ts";
import { WsTransport } from "../rpc/ws-transport.ts";
import { BlockLogs } from "../verify/block-logs.ts";
import { deriveLogFilter, type RequestedLogs } from "../verify/log-filter.ts";
import { type BalancePair, fetchBalances } from "../verify/token-balances.ts";
import type { ChainParts } from "./chain-parts.ts";
import { FinalBlockCheck } from "./final-block-check.ts";
import { Finality, type MinorityRule } from "./finality.ts";
import { type HeadChange, HeadFollower } from "./head-follower.ts";
import { HeadWatch } from "./head-watch.ts";
import { type Prepare, RangeFetcher } from "./range-fetcher.ts";
import { type Reread, type RereadRequest, rereadBlocks } from "./reread-blocks.ts";
import { UnfinalizedChain } from "./unfinalized-chain.ts";
import { walkRanges } from "./walk-ranges.ts";

/** The chain to follow, its endpoints, and where to start. */
export type ChainSourceOptions = {
  /** `http(s)` and `ws(s)` URLs of nodes of one chain, at least one. */
  readonly urls: readonly string[];
  readonly chainId: number;
  /** The first block; `latest` is the head at the time of the first batch. */
  readonly startBlock: number | "latest";
  readonly filter: RequestedLogs;
  readonly log: Log;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** The most calls to each endpoint in any second, set by the operator. No limit by default. */
  readonly callsPerSecondMax?: number | null;
  /** An option of `Endpoint`. */
  readonly aheadSecondsMax?: number;
  /** What finality does when a majority of the endpoints is absent for long; `stop` by default. */
  readonly minorityRule?: MinorityRule;
  /** Opens the transport of an endpoint. Only simulations replace it. */
  readonly openTransport?: OpenTransport;
};

/** Where the consumer is. */
export type Resumption = {
  /** The last final block that it has; `null` for none. */
  readonly resumeAfter: TimedBlock | null;
  /** The ends of earlier final ranges; no range crosses one. */
  readonly rangeEnds: readonly number[];
};

/** The progress of a chain source. */
export type ChainStatus = ChainSource["status"];

/** How often to check for changes when nothing announces one. */
const idleMs = 1_000;

/**
 * The chain as a stream of complete blocks: final blocks in ranges, then block by block up to the head. Reorgs and
 * finality are part of it. Retries forever while nodes fail, and shows that in `status`.
 */
export class ChainSource<Final = readonly Block[]> {
  readonly #options: ChainSourceOptions;
  readonly #abort = new AbortController();
  readonly #parts: ChainParts & { readonly ranges: RangeFetcher<Final> };
  readonly #finality: Finality;
  readonly #headFollower: HeadFollower;
  #isStarted = false;
  /** Where the consumer was at the start of `batches`. */
  #resumption: Resumption = { resumeAfter: null, rangeEnds: [] };
  #fault: Error | null = null;

  private constructor(options: ChainSourceOptions, prepare: Prepare<Final>) {
    this.#options = options;
    const { clock = systemClock, random = Math.random, log } = options;
    const context = { clock, random, log, signal: this.#abort.signal };
    const pool = new EndpointPool(openEndpoints(options, context), context);
    const blockLogs = new BlockLogs(pool, deriveLogFilter(options.filter));
    const parts = {
      pool,
      blockLogs,
      watch: new HeadWatch(pool),
      finalBlockCheck: new FinalBlockCheck(pool),
      unfinalized: new UnfinalizedChain(),
    };
    this.#parts = { ...parts, ranges: new RangeFetcher(parts, prepare) };
    this.#finality = new Finality(this.#parts, options.minorityRule ?? "stop");
    this.#headFollower = new HeadFollower(this.#parts);
  }

  /**
   * Polls every endpoint once and checks its chain id. Throws `WrongChainError` when one serves another chain. An
   * endpoint that does not answer is tried again later. `prepare` converts final blocks before they are emitted.
   */
  static async open<Final>(
    options: ChainSourceOptions,
    prepare: Prepare<Final>,
  ): Promise<ChainSource<Final>> {
    const source = new ChainSource(options, prepare);
    await closeOnError(source, async () => {
      await source.#parts.watch.pollAll();
      for (const { refusal } of source.#parts.pool.endpoints) if (refusal !== null) throw refusal;
      await source.#finality.update();
    });
    source.#runInBackground(source.#finality.follow());
    for (const endpoint of source.#parts.pool.endpoints) {
      source.#runInBackground(source.#parts.watch.watch(endpoint));
    }
    return source;
  }

  /**
   * The changes of the chain, in order, until the source is closed. Throws `ReorgBeyondFinalityError` when finalized
   * history is gone. Begins with the start block unless `resumption` says where to continue. Call this once.
   */
  async *batches(
    resumption: Resumption = this.#resumption,
  ): AsyncGenerator<ChainBatch<Final>, void, undefined> {
    assert(!this.#isStarted, "a chain source is consumed once");
    this.#isStarted = true;
    this.#resumption = resumption;
    try {
      await this.#start();
      for (;;) {
        const { version } = this.#parts.watch.wake;
        yield* this.#backfill();
        const changes = await this.#parts.pool.retry(() => this.#step());
        yield* changes;
        if (changes.length === 0)
          await this.#parts.watch.wake.wait(version, idleMs, this.#parts.pool.context);
        if (this.#fault !== null) throw this.#fault;
      }
    } catch (thrown) {
      if (!this.#abort.signal.aborted) throw thrown;
    }
  }

  /**
   * Reads the logs of a block again from its receipts, for a block whose events contradict each other, such as a match
   * without a leg. Waits until an endpoint can prove them. Throws an `AbortError` when the source is closed.
   */
  async prove(block: Block, isFinal: boolean): Promise<Block> {
    const { number, logs } = block;
    const proven = await this.#parts.blockLogs.prove(block, isFinal);
    const missing = proven.logs.length - logs.length;
    if (missing > 0) {
      const message = "endpoint had omitted logs of a block; taken from its receipts";
      this.#parts.pool.context.log.warn({ block: number, logs: missing }, message);
    }
    return proven;
  }

  /** Reads final blocks again, for the audit, as `rereadBlocks` does. */
  async reread(request: RereadRequest): Promise<Reread> {
    return rereadBlocks(this.#parts, request);
  }

  /** Reads balances of tokens at a final block, as `fetchBalances` does. */
  async readBalances(
    pairs: readonly BalancePair[],
    at: { readonly contract: Address; readonly block: number },
  ): Promise<readonly bigint[]> {
    return fetchBalances(this.#parts.pool, pairs, at);
  }

  /** Ends `batches()` and all running work. */
  close(): void {
    this.#abort.abort();
    for (const endpoint of this.#parts.pool.endpoints) endpoint.close();
  }

  get status() {
    const { head } = this.#parts.watch;
    const { reorgs, deepestReorg } = this.#headFollower;
    return {
      /** The highest believed head of an endpoint, with its time in Unix seconds. */
      head: head && toTimedBlock(head),
      finalized: this.#finalized,
      reorgs,
      deepestReorg,
      /** Blooms that seemed to contain more of our logs than the receipts did. */
      bloomFalsePositives: this.#parts.blockLogs.falsePositives,
      /** The last blocks that were accepted although no endpoint could prove their logs. */
      unprovenBlocks: this.#parts.blockLogs.unproven,
      warnings: this.#warnings(),
      /** The endpoints that finality waits for, because the others are no majority. */
      awaitedHosts: this.#finality.awaitedHosts,
      endpoints: this.#parts.pool.endpoints.map(({ host, problem, metrics }) => {
        return { host, problem, metrics };
      }),
    };
  }

  /** The last final block: by agreement, or because the consumer has stored it as final. */
  get #finalized(): BlockRef | null {
    const agreed = this.#parts.pool.agreement.block;
    const stored = this.#stored;
    return stored !== null && stored.number > (agreed?.number ?? -1) ? stored : agreed;
  }

  get #stored(): BlockRef | null {
    return this.#parts.unfinalized.base ?? this.#resumption.resumeAfter;
  }

  /** Waits until earlier ranges are final again, and checks that the last stored block is still on the chain (R3). */
  async #start(): Promise<void> {
    const { startBlock } = this.#options;
    const { resumeAfter, rangeEnds } = this.#resumption;
    const rangeEnd = Math.max(-1, ...rangeEnds);
    await this.#until(() => (this.#finalNumber >= rangeEnd ? rangeEnd : null));
    if (resumeAfter !== null) {
      await this.#parts.finalBlockCheck.confirm(resumeAfter);
      this.#parts.unfinalized.restart(resumeAfter.number + 1, resumeAfter);
      return;
    }
    // Nothing is stored that could contradict a wrong endpoint, so none is believed alone.
    await this.#until(() => this.#finality.awaitedHosts.length === 0 || null);
    const head = await this.#until(() => this.#parts.watch.head);
    const first = startBlock === "latest" ? head.number : startBlock;
    this.#parts.unfinalized.restart(first, null);
  }

  /** Calls `check` after every change until it returns a value. */
  async #until<T>(check: () => T | null): Promise<T> {
    for (;;) {
      const { version } = this.#parts.watch.wake;
      this.#parts.pool.throwIfRefused();
      const found = check();
      if (found !== null) return found;
      await this.#parts.watch.wake.wait(version, idleMs, this.#parts.pool.context);
    }
  }

  /** The last block that is final by agreement; -1 without one. */
  get #finalNumber(): number {
    return this.#parts.pool.agreement.block?.number ?? -1;
  }

  async *#backfill(): AsyncGenerator<ChainBatch<Final>, void, undefined> {
    const { unfinalized } = this.#parts;
    if (unfinalized.length > 0 || unfinalized.nextNumber > this.#finalNumber) return;
    const parts = walkRanges(this.#parts, this.#resumption.rangeEnds);
    for await (const { fromBlock, last, blocks } of parts) {
      unfinalized.restart(last.number + 1, last);
      yield { kind: "range", fromBlock, last, blocks, more: last.number < this.#finalNumber };
    }
  }

  async #step(): Promise<readonly HeadChange[]> {
    const settled = await this.#headFollower.settle();
    return settled === null ? this.#headFollower.advance() : [settled];
  }

  #warnings(): readonly ChainWarning[] {
    const warnings = new Set<ChainWarning>();
    const { endpoints } = this.#parts.pool;
    const head = this.#parts.watch.head?.number ?? Number.POSITIVE_INFINITY;
    if (head < (this.#stored?.number ?? -1)) warnings.add("head_below_final");
    const problems = endpoints.map(({ problem }) => problem);
    if (problems.every((problem) => problem?.isPause === false)) warnings.add("no_endpoint");
    for (const { view, isHeadBelieved } of endpoints.map(({ state }) => state)) {
      if (view?.warning) warnings.add(view.warning);
      if (!isHeadBelieved) warnings.add("head_not_believed");
    }
    if (this.#finality.isDisputed) warnings.add("finality_disputed");
    if (this.#finality.awaitedHosts.length > 0) warnings.add("majority_absent");
    if (this.#headFollower.isFull) warnings.add("head_buffer_full");
    if (this.#parts.finalBlockCheck.isDisputed) warnings.add("history_disputed");
    return [...warnings];
  }

  /** Runs a task in the background. A failure of it is a bug and ends `batches()`. */
  #runInBackground(task: Promise<never>): void {
    task.catch((thrown: unknown) => {
      if (this.#abort.signal.aborted) return;
      this.#fault = toError(thrown);
      this.#parts.watch.wake.notify();
    });
  }
}

function openEndpoints(options: ChainSourceOptions, context: ChainContext): Endpoint[] {
  const { chainId, callsPerSecondMax = null, aheadSecondsMax } = options;
  const open = options.openTransport ?? openTransport;
  const common = { chainId, callsPerSecondMax, aheadSecondsMax, openTransport: open, context };
  const seen = new Map<string, number>();
  assert(options.urls.length > 0, "a chain source needs an endpoint");
  return options.urls.map((text) => {
    const url = URL.parse(text);
    assert(url !== null, "the URLs of endpoints were checked before");
    const count = (seen.get(url.host) ?? 0) + 1;
    seen.set(url.host, count);
    const host = count === 1 ? url.host : `${url.host}#${count}`;
    return new Endpoint({ url, host, ...common });
  });
}

function openTransport(url: URL, onHead: OnHead, onLost: OnLost): Transport {
  const isWebSocket = url.protocol === "ws:" || url.protocol === "wss:";
  return isWebSocket ? WsTransport.open(url, onHead, onLost) : HttpTransport.open(url);
}
