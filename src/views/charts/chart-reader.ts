import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { storeLimits } from "../../base/config/limits.ts";
import { AppError, toError } from "../../base/errors.ts";
import type { TokenId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { LatencyHistogram } from "../../base/metrics/latency-histogram.ts";
import type { Range } from "../../base/range.ts";
import { type Clock, systemClock } from "../../base/time/clock.ts";
import { backoffMs } from "../../base/time/retry.ts";

/** The copy for charts, in the data folder. */
export const chartFileName = "charts.sqlite";

/** Whether the oldest or the newest come first. */
export type ChartOrder = "asc" | "desc";

/** Buckets of tokens by their starts, unix seconds: `from` inclusive, `to` exclusive. */
export type ChartRange = Range<number> & {
  readonly tokenIds: readonly TokenId[];
  readonly bucketSeconds: number;
  readonly order: ChartOrder;
  readonly limit: number;
};

/** What the thread is asked for, by which the answer is known, or that the copy for charts is another file. */
export type ChartQuestion = { readonly id: number; readonly range: ChartRange } | "another file";

/** What was found, by token the packed buckets; or what went wrong. */
export type ChartAnswer = {
  readonly id: number;
  readonly found: readonly Uint8Array<ArrayBuffer>[];
  readonly failure: ReadFailure | null;
};

/** The code is 0 when it is not one of SQLite's. */
type ReadFailure = { readonly message: string; readonly sqliteCode: number };

type ReadingThread = { readonly worker: Worker; readonly ended: Promise<void> };

/** The copy cannot be read. */
export class ChartsDamagedError extends Error {
  override name = "ChartsDamagedError";
}

/**
 * Reads the copy for charts on a thread, which begins with the first question, or before. Mostly it takes less
 * time than going there, but where the disk keeps it waiting no one else has to. When the thread ends
 * unexpectedly, the engine answers, until another thread begins.
 */
export class ChartReader {
  /** Of what was answered. */
  readonly latency = new LatencyHistogram({
    name: "oddwire_store_read_duration_seconds",
    help: "How long it took to read charts out of their copy, waiting in line included",
    labelNames: [],
  });
  #failures = 0;
  readonly #path: string;
  readonly #asked = new Map<number, PromiseWithResolvers<readonly Uint8Array[] | null>>();
  #thread: ReadingThread | null = null;
  #nextId = 0;
  readonly #clock: Clock;
  #log: Log | null = null;
  /** Threads that ended unexpectedly since the last answer, and when the next may begin. */
  #threadsLost = 0;
  #beginAtMs = Number.NEGATIVE_INFINITY;

  constructor(dataDir: string, clock: Clock = systemClock) {
    this.#clock = clock;
    this.#path = join(dataDir, chartFileName);
  }

  /** How often nothing could be read or was refused. */
  get failures(): number {
    return this.#failures;
  }

  /** Begins the thread, unless it is there: some 50 ms. Logs to `log` from now on. */
  begin(log: Log | null = this.#log): ReadingThread {
    this.#log = log;
    this.#thread ??= this.#open();
    return this.#thread;
  }

  /**
   * `null` when the engine should be asked, as no thread reads. Rejects with `SERVICE_UNAVAILABLE` when too many
   * wait, and with `ChartsDamagedError`.
   */
  async read({
    tokenIds,
    bucketSeconds,
    from,
    to,
    order,
    limit,
  }: ChartRange): Promise<readonly Uint8Array[] | null> {
    const startedAtMs = this.#clock.monotonicMs();
    let found: readonly Uint8Array[] | null = null;
    try {
      // What else a caller has along could not be sent.
      found = await this.#ask({ tokenIds, bucketSeconds, from, to, order, limit });
      this.latency.observe({}, this.#clock.monotonicMs() - startedAtMs);
      return found;
    } finally {
      if (found === null) this.#failures += 1;
    }
  }

  /** The copy is thrown away: what is asked from now on is read of the one that takes its place. */
  forgetFile(): void {
    const question: ChartQuestion = "another file";
    this.#thread?.worker.postMessage(question);
  }

  /** Resolves when what was asked is answered, and the file is closed. */
  async close(): Promise<void> {
    if (this.#thread === null) return;
    const { worker, ended } = this.#thread;
    // Anyone who waits for it would not keep the process there.
    worker.ref();
    worker.postMessage(null);
    await ended;
  }

  async #ask(range: ChartRange): Promise<readonly Uint8Array[] | null> {
    if (this.#asked.size >= storeLimits.queriesWaitingMax) {
      throw new AppError("SERVICE_UNAVAILABLE", { retryAfterSeconds: 1 });
    }
    if (this.#thread === null && this.#clock.monotonicMs() < this.#beginAtMs) return null;
    const { worker } = this.begin();
    const id = this.#nextId;
    this.#nextId += 1;
    const answer = Promise.withResolvers<readonly Uint8Array[] | null>();
    this.#asked.set(id, answer);
    const question: ChartQuestion = { id, range };
    worker.postMessage(question);
    return answer.promise;
  }

  #open(): ReadingThread {
    const ended = Promise.withResolvers<void>();
    const worker = new Worker(new URL("./chart-reading-thread.ts", import.meta.url), {
      workerData: this.#path,
    });
    worker.unref();
    worker.on("message", ({ id, found, failure }: ChartAnswer) => {
      const asked = this.#asked.get(id);
      this.#asked.delete(id);
      this.#threadsLost = 0;
      if (failure === null) asked?.resolve(found);
      else asked?.reject(errorOf(failure));
    });
    let cause: Error | null = null;
    worker.on("error", (thrown) => {
      cause = toError(thrown);
    });
    worker.on("exit", (code) => {
      if (code !== 0)
        this.#log?.error({ err: cause, code }, "the reading thread ended unexpectedly");
      this.#replaceThread();
      ended.resolve();
    });
    return { worker, ended: ended.promise };
  }

  /** The next question begins another thread, not too soon; those that wait go to the engine. */
  #replaceThread(): void {
    this.#thread = null;
    const waitMs = backoffMs(this.#threadsLost, storeLimits.readerBackoff, Math.random);
    this.#threadsLost += 1;
    this.#beginAtMs = this.#clock.monotonicMs() + waitMs;
    for (const asked of this.#asked.values()) asked.resolve(null);
    this.#asked.clear();
  }
}

function errorOf({ message, sqliteCode }: ReadFailure): Error {
  return sqliteCode === 0 ? new Error(message) : new ChartsDamagedError(message);
}
