/**
 * The main thread's side of the chain thread. The thread fetches, parses, decodes and encodes, so that no request
 * waits for this work. This side passes on the changes in order and limits how far the thread runs ahead.
 */
import { Worker } from "node:worker_threads";
import { closeOnError } from "../base/close-on-error.ts";
import { chainLimits } from "../base/config/limits.ts";
import type { Log, LogLevel } from "../base/log.ts";
import { systemClock } from "../base/time/clock.ts";
import { WakeSignal } from "../base/time/wake-signal.ts";
import { ReorgBeyondFinalityError, WrongChainError } from "../chain/chain-errors.ts";
import type { NamedContract } from "../chain/parse/named-contracts.ts";
import type { ChainSourceOptions, ChainStatus, Resumption } from "../chain/sync/chain-source.ts";
import type { Contracts } from "../contracts/contracts.ts";
import type { ChainChange } from "./change.ts";
import { type ChangeSource, type Check, type ObservedHead, staleSeconds } from "./intake.ts";
import type { FactsReading, FactsRequest, NoReading } from "./reread-facts.ts";

/** The options of the thread; plain data. */
export type ChainThreadOptions = Pick<
  ChainSourceOptions,
  "urls" | "callsPerSecondMax" | "minorityRule" | "aheadSecondsMax" | "chainId" | "startBlock"
> & {
  readonly contracts: Contracts;
  readonly logLevel: LogLevel;
};

/** The messages of the thread. The first status comes once every endpoint is identified. */
export type FromChainThread =
  | { readonly kind: "status"; readonly status: ChainStatus }
  | { readonly kind: "change"; readonly change: ChainChange; readonly status: ChainStatus }
  | { readonly kind: "reread"; readonly reading: FactsReading | NoReading }
  | { readonly kind: "failed"; readonly name: string; readonly error: Error };

/** Where to continue, and the contracts that the stored logs name. */
export type FollowFrom = Resumption & { readonly named: readonly NamedContract[] };

/** The messages to the thread: where to continue, that a change was taken, to read blocks again, or to stop. */
export type ToChainThread =
  | (FollowFrom & { readonly kind: "follow" })
  | { readonly kind: "taken" }
  | { readonly kind: "reread"; readonly request: FactsRequest }
  | { readonly kind: "close" };

export class ChainThread implements ChangeSource {
  readonly kind = "chain";
  readonly #worker: Worker;
  readonly #queue: ChainChange[] = [];
  readonly #opened = Promise.withResolvers<void>();
  #status: ChainStatus | null = null;
  /** Monotonic time since which heads are below our final blocks; `null` while they are not. */
  #belowFinalSinceMs: number | null = null;
  /** The highest head, and the monotonic time at which it was first reported. */
  #highest = { number: -1, atMs: nowMs() };
  #failure: Error | null = null;
  #isClosed = false;
  readonly #wake = new WakeSignal();
  #reread: PromiseWithResolvers<FactsReading | NoReading> | null = null;

  private constructor(worker: Worker, log: Log) {
    this.#worker = worker;
    // It can reject before `follow` waits for it.
    this.#opened.promise.catch(() => {});
    worker.on("message", (message: FromChainThread) => this.#onMessage(message));
    worker.on("error", (error) => this.#fail(error));
    worker.on("exit", (code) => {
      if (!this.#isClosed) this.#fail(new Error(`the chain thread ended with ${code}`));
      log.debug({ code }, "chain thread exited");
    });
  }

  /** Starts the thread, which connects to the endpoints. That takes a while, so start it before opening the store. */
  static start(options: ChainThreadOptions, log: Log): ChainThread {
    const worker = new Worker(new URL("./chain-worker.ts", import.meta.url), {
      workerData: options,
      resourceLimits: { maxYoungGenerationSizeMb: chainLimits.threadYoungMegabytes },
    });
    return new ChainThread(worker, log);
  }

  /**
   * Continues where the store is. Resolves once every endpoint is identified. Throws `WrongChainError`.
   */
  async follow(from: FollowFrom): Promise<void> {
    this.#report({ kind: "follow", ...from });
    await closeOnError(this, () => this.#opened.promise);
  }

  /** The newest status that the thread has reported; `null` before the first. */
  get status(): ChainStatus | null {
    return this.#status;
  }

  get head(): ObservedHead | null {
    const head = this.#status?.head ?? null;
    return head && { ...head, ageMs: nowMs() - this.#highest.atMs };
  }

  /** Resolves once every endpoint is identified. Rejects with the error that ended the thread before. */
  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  /** For readiness: fails while no endpoint can be followed. A node behind a balancer may be behind for a moment. */
  check(): Check {
    const status = this.#status;
    if (this.#failure !== null) return { ok: false, detail: this.#failure.message };
    if (status === null) return { ok: false, detail: "connecting" };
    const problems = status.endpoints.flatMap(({ host, problem }) => {
      return problem === null ? [] : `${host} ${problem.text}`;
    });
    const isNoneUsable = problems.length === status.endpoints.length;
    // During a pause, what is known stays fresh for a moment.
    const staleForS = this.head === null ? 0 : staleSeconds(this.head);
    if (isNoneUsable && (staleForS > 0 || status.warnings.includes("no_endpoint"))) {
      return { ok: false, detail: `no RPC endpoint can be asked now: ${problems.join("; ")}` };
    }
    const belowFinalMs = nowMs() - (this.#belowFinalSinceMs ?? nowMs());
    if (belowFinalMs > chainLimits.headBelowFinalMsMax) {
      const detail = `the newest block of all RPC endpoints, ${status.head?.number}, is below the stored blocks`;
      return { ok: false, detail };
    }
    const stale = staleForS === 0 ? [] : [`no new block for ${staleForS} s`];
    const details = [
      ...stale,
      ...status.warnings,
      ...status.awaitedHosts.map((host) => `waits for: ${host}`),
      ...problems,
    ];
    const suffix = details.length === 0 ? "" : ` (${details.join(", ")})`;
    const isFollowing = status.head !== null;
    return { ok: isFollowing, detail: `${isFollowing ? "following" : "connecting"}${suffix}` };
  }

  /** The changes in order, until closed. Throws the error that ended the thread. Call this once. */
  async *changes(): AsyncGenerator<ChainChange, void, undefined> {
    for (;;) {
      const change = this.#queue.shift();
      if (change !== undefined) {
        yield change;
        this.#report({ kind: "taken" });
        continue;
      }
      if (this.#failure !== null) throw this.#failure;
      if (this.#isClosed) return;
      await this.#wake.next();
    }
  }

  /** Has the thread read final blocks again. Changes go first. Call it again only after it has resolved. */
  async reread(request: FactsRequest): Promise<FactsReading | NoReading> {
    if (this.#isClosed || this.#failure !== null) return endedReading;
    this.#reread = Promise.withResolvers();
    this.#report({ kind: "reread", request });
    return this.#reread.promise;
  }

  /** Ends the thread. Changes that have already arrived are still delivered. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#report({ kind: "close" });
    this.#wake.notify();
    this.#reread?.resolve(endedReading);
    await this.#worker.terminate();
  }

  #onMessage(message: FromChainThread): void {
    switch (message.kind) {
      case "status":
        this.#record(message.status);
        return this.#opened.resolve();
      case "change":
        this.#record(message.status);
        this.#queue.push(message.change);
        return this.#wake.notify();
      case "reread":
        return this.#reread?.resolve(message.reading);
      case "failed":
        return this.#fail(withClass(message.error, message.name));
    }
  }

  #record(status: ChainStatus): void {
    this.#status = status;
    const number = status.head?.number ?? -1;
    if (number > this.#highest.number) this.#highest = { number, atMs: nowMs() };
    const isBelow = status.warnings.includes("head_below_final");
    this.#belowFinalSinceMs = isBelow ? (this.#belowFinalSinceMs ?? nowMs()) : null;
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#opened.reject(error);
    this.#wake.notify();
    this.#reread?.resolve(endedReading);
  }

  #report(message: ToChainThread): void {
    this.#worker.postMessage(message);
  }
}

const nowMs = () => systemClock.monotonicMs();

const endedReading: NoReading = { kind: "unread", reason: "the chain is not followed any more" };

/** Errors lose their class between threads. Restores it for the classes that callers distinguish. */
function withClass(error: Error, name: string): Error {
  const found = [ReorgBeyondFinalityError, WrongChainError].find((kind) => kind.name === name);
  if (found !== undefined) Object.setPrototypeOf(error, found.prototype);
  return Object.assign(error, { name });
}
