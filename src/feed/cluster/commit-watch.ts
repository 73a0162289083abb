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
 * Finds ranges that another process commits to the store, once all of their rows are there. Looks soon after an
 * announcement, and every `coverageEveryMs` without one.
 */
export class CommitWatch {
  readonly #store: FactReader;
  readonly #log: Log;
  readonly #closing = new AbortController();
  /** The range found last. The next one is looked for once this one is covered. */
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

  /** Announces that blocks through `block` are committed, so that the store is asked now. */
  announce(block: number): void {
    if (block <= this.#announced) return;
    this.#announced = block;
    this.#wake.notify();
  }

  /** Resolves once there is a range to take. Rejects with `RepairedElsewhereError`; nothing more is found then. */
  async whenFound(): Promise<void> {
    if (this.#found === null) await this.#nextFound.promise;
  }

  /** Yields the range that was found. The caller must cover it before it asks for the next value. */
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
    // The next `whenFound` throws it.
    this.#nextFound.promise.catch(() => {});
  }
}
