import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { type Clock, systemClock } from "../base/clock.ts";
import { AppError, toError } from "../base/errors.ts";
import type { TokenId } from "../base/ids.ts";
import { LatencyHistogram } from "../base/latency-histogram.ts";
import { storeLimits } from "../base/limits.ts";
import type { Log } from "../base/log.ts";
import { backoffMs } from "../base/retry.ts";
import type { NativeBlock } from "./native-blocks.ts";
import type { Span, Times } from "./part-map.ts";
import type { PartRows } from "./parts/read-part-rows.ts";

/** The copy for charts, in the data folder. */
export const chartFileName = "charts.sqlite";

/** Whether the oldest or the newest come first. */
export type ChartOrder = "asc" | "desc";

/** Buckets of tokens by their starts, unix seconds: `from` inclusive, `to` exclusive. */
export type ChartRange = {
  readonly tokenIds: readonly TokenId[];
  readonly bucketSeconds: number;
  readonly from: number;
  readonly to: number;
  readonly order: ChartOrder;
  readonly limit: number;
};

/** Rows of a token: of `fills` by their positions, of `minute_candles` by the minute, unix seconds. */
export type PartQuestion = Span & {
  readonly table: "fills" | "minute_candles";
  readonly tokenId: TokenId;
  /** Unix seconds; minutes have none but their own. */
  readonly times: Times;
  /** The numbers of the roles that count; `null` where all do. */
  readonly roles: readonly number[] | null;
  readonly order: "asc" | "desc";
  readonly limit: number;
};

/** What the thread is asked for, by which the answer is known, or that the copy for charts is another file. */
export type ReaderQuestion =
  | { readonly id: number; readonly charts: ChartRange }
  | { readonly id: number; readonly rows: PartQuestion }
  | "charts are anew";

/** What was found, of charts by token the packed buckets; or what went wrong. */
export type ReaderAnswer = {
  readonly id: number;
  readonly found: PartRows | null;
  readonly failure: ReaderFailure | null;
};

/** SQLite's code is 0 when it is not of its saying. */
type ReaderFailure = { readonly message: string; readonly sqliteCode: number };

/** What the thread reads. */
export type ReaderPaths = { readonly charts: string; readonly tables: string };

type ReadingThread = { readonly worker: Worker; readonly ended: Promise<void> };

/** The copy cannot be read. */
export class ChartsDamagedError extends Error {
  override name = "ChartsDamagedError";
}

/**
 * Reads files of the data folder on a thread, which begins with the first question, or before: the copy for
 * charts, and what the engine has stored of a token. Mostly it takes less time than going there, but where the
 * disk keeps it waiting nobody else has to. When the thread ends unexpectedly, the engine is asked, until
 * another thread begins.
 */
export class StoreReader {
  /** Of what was answered, also with nothing that could be read. */
  readonly latency = new LatencyHistogram({
    name: "oddwire_store_read_duration_seconds",
    help: "How long it took to read a token's rows or charts out of files, waiting in line included",
    labelNames: [],
  });
  #failures = 0;
  readonly #paths: ReaderPaths;
  readonly #asked = new Map<number, PromiseWithResolvers<PartRows | null>>();
  #thread: ReadingThread | null = null;
  #nextId = 0;
  readonly #clock: Clock;
  #log: Log | null = null;
  /** Threads that ended unexpectedly since the last answer, and when the next may begin. */
  #threadsLost = 0;
  #beginAtMs = Number.NEGATIVE_INFINITY;

  constructor(dataDir: string, clock: Clock = systemClock) {
    this.#clock = clock;
    this.#paths = {
      charts: join(dataDir, chartFileName),
      tables: join(dataDir, "facts", "data", "oddwire"),
    };
  }

  /** How often nothing could be read or was refused, and the engine was asked instead or nobody. */
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
  async readCharts({
    tokenIds,
    bucketSeconds,
    from,
    to,
    order,
    limit,
  }: ChartRange): Promise<readonly Uint8Array[] | null> {
    // What else a caller has along could not be sent.
    const charts = { tokenIds, bucketSeconds, from, to, order, limit };
    const found = await this.#ask((id) => ({ id, charts }));
    return found?.columns ?? null;
  }

  /**
   * Final rows out of the files of the engine; `null` when the engine should be asked: it takes much reading,
   * the files are not as they are known here, or no thread reads. Rejects with `SERVICE_UNAVAILABLE` when too many wait.
   */
  async readRows(rows: PartQuestion): Promise<Pick<NativeBlock, "rows" | "columns"> | null> {
    const found = await this.#ask((id) => ({ id, rows }));
    if (found === null) return null;
    const columns = found.columns.map(({ buffer, byteOffset, byteLength }) =>
      Buffer.from(buffer, byteOffset, byteLength),
    );
    return { rows: found.rows, columns };
  }

  /** The copy for charts is thrown away: what is asked from now on is read of the one that takes its place. */
  forgetCharts(): void {
    const question: ReaderQuestion = "charts are anew";
    this.#thread?.worker.postMessage(question);
  }

  /** Resolves when what was asked is answered, and the files are closed. */
  async close(): Promise<void> {
    if (this.#thread === null) return;
    const { worker, ended } = this.#thread;
    // Whoever waits for it would not keep the process there.
    worker.ref();
    worker.postMessage(null);
    await ended;
  }

  async #ask(questionOf: (id: number) => ReaderQuestion): Promise<PartRows | null> {
    const startedAtMs = this.#clock.monotonicMs();
    let found: PartRows | null = null;
    try {
      found = await this.#answerTo(questionOf);
      this.latency.observe({}, this.#clock.monotonicMs() - startedAtMs);
      return found;
    } finally {
      if (found === null) this.#failures += 1;
    }
  }

  async #answerTo(questionOf: (id: number) => ReaderQuestion): Promise<PartRows | null> {
    if (this.#asked.size >= storeLimits.queriesWaitingMax) {
      throw new AppError("SERVICE_UNAVAILABLE", { retryAfterSeconds: 1 });
    }
    if (this.#thread === null && this.#clock.monotonicMs() < this.#beginAtMs) return null;
    const { worker } = this.begin();
    const id = this.#nextId;
    this.#nextId += 1;
    const answer = Promise.withResolvers<PartRows | null>();
    this.#asked.set(id, answer);
    worker.postMessage(questionOf(id));
    return answer.promise;
  }

  #open(): ReadingThread {
    const ended = Promise.withResolvers<void>();
    const worker = new Worker(new URL("./reading-thread.ts", import.meta.url), {
      workerData: this.#paths,
    });
    worker.unref();
    worker.on("message", ({ id, found, failure }: ReaderAnswer) => {
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

function errorOf({ message, sqliteCode }: ReaderFailure): Error {
  return sqliteCode === 0 ? new Error(message) : new ChartsDamagedError(message);
}
