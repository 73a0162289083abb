import { feedLimits } from "../../base/config/cluster-limits.ts";
import { toError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { systemClock as clock } from "../../base/time/clock.ts";
import { WakeSignal } from "../../base/time/wake-signal.ts";
import type { Coverage } from "../../storage/recover.ts";
import type { FactReader } from "../../storage/server/fact-reader.ts";
import { RepairedElsewhereError } from "../../storage/server/repairs.ts";
import type { Change } from "../change.ts";

/**
 * Finds what another process commits to the store, once all of its rows are there: soon after it is announced, and from
 * time to time without an announcement.
 */
export class CommitWatch {
  readonly #store: FactReader;
  readonly #log: Log;
  readonly #closing = new AbortController();
  /** Until it is covered nothing else is looked for. */
  #found: Coverage | null = null;
  #announced = -1;
  readonly #wake = new WakeSignal();
  #nextFound = Promise.withResolvers<void>();
  readonly #running: Promise<void>;

  private constructor(store: FactReader, log: Log) {
    this.#store = store;
    this.#log = log;
    this.#running = this.#run();
  }

  static start(store: FactReader, log: Log): CommitWatch {
    return new CommitWatch(store, log);
  }

  /** Says that a block is committed, so that it is looked for now. */
  announce(block: number): void {
    if (block <= this.#announced) return;
    this.#announced = block;
    this.#wake.notify();
  }

  /** Resolves while there is something to take. Rejects with `RepairedElsewhereError`: nothing more is found then. */
  async whenFound(): Promise<void> {
    if (this.#found === null) await this.#nextFound.promise;
  }

  /** What was found; it has to be covered before the next value is asked for. */
  *takeFound(): Generator<Change, void, undefined> {
    if (this.#found === null) return;
    yield { kind: "committed", range: this.#found };
    this.#found = null;
    this.#wake.notify();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const { version } = this.#wake;
      if (this.#found === null) await this.#find();
      const isExpected = this.#announced > (this.#store.coverage?.last.number ?? -1);
      const waitMs = isExpected ? feedLimits.coverageRetryMs : feedLimits.coverageEveryMs;
      await this.#wake.wait(version, waitMs, { clock, signal }).catch(() => {});
    }
  }

  async #find(): Promise<void> {
    try {
      this.#found = await this.#store.verifyNext();
    } catch (thrown) {
      if (thrown instanceof RepairedElsewhereError) return this.#fail(thrown);
      this.#log.debug({ err: toError(thrown) }, "commits cannot be read");
    }
    if (this.#found === null) return;
    this.#nextFound.resolve();
    this.#nextFound = Promise.withResolvers();
  }

  #fail(repaired: RepairedElsewhereError): void {
    this.#closing.abort();
    this.#nextFound.reject(repaired);
    // The next wait throws it.
    this.#nextFound.promise.catch(() => {});
  }
}
