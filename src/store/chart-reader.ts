import { Worker } from "node:worker_threads";
import { AppError, toError } from "../base/errors.ts";
import type { TokenId } from "../base/ids.ts";
import { storeLimits } from "../base/limits.ts";
import { sqliteCodeOf } from "./sqlite-code.ts";

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

/** A range, and what its answer is known by. */
export type ChartQuestion = ChartRange & { readonly id: number };

/** By token the packed buckets, or what went wrong. */
export type ChartAnswer = {
  readonly id: number;
  readonly packed: readonly Uint8Array<ArrayBuffer>[];
  readonly failure: ChartFailure | null;
};

/** SQLite's code is 0 when it is not of its saying. */
type ChartFailure = { readonly message: string; readonly sqliteCode: number };

type ReadingThread = { readonly worker: Worker; readonly ended: Promise<void> };

/** The copy cannot be read. */
export class ChartsDamagedError extends Error {
  override name = "ChartsDamagedError";
}

/**
 * Reads the copy for charts on a thread, which begins with the first question, or before. Mostly it takes
 * less time than going there, but where the disk keeps it waiting nobody else has to.
 */
export class ChartReader {
  readonly #path: string;
  readonly #asked = new Map<number, PromiseWithResolvers<readonly Uint8Array[]>>();
  #thread: ReadingThread | null = null;
  #nextId = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Begins the thread, unless it is there: some 50 ms. */
  begin(): ReadingThread {
    this.#thread ??= this.#open();
    return this.#thread;
  }

  /** Rejects with `SERVICE_UNAVAILABLE` when too many wait, and with `ChartsDamagedError`. */
  async read({
    tokenIds,
    bucketSeconds,
    from,
    to,
    order,
    limit,
  }: ChartRange): Promise<readonly Uint8Array[]> {
    if (this.#asked.size >= storeLimits.queriesWaitingMax) {
      throw new AppError("SERVICE_UNAVAILABLE", { retryAfterSeconds: 1 });
    }
    const { worker } = this.begin();
    const id = this.#nextId;
    this.#nextId += 1;
    const answer = Promise.withResolvers<readonly Uint8Array[]>();
    this.#asked.set(id, answer);
    const question: ChartQuestion = { id, tokenIds, bucketSeconds, from, to, order, limit };
    worker.postMessage(question);
    return answer.promise;
  }

  /** Resolves when what was asked is answered, and the file is closed. */
  async close(): Promise<void> {
    if (this.#thread === null) return;
    const { worker, ended } = this.#thread;
    // Whoever waits for it would not keep the process there.
    worker.ref();
    worker.postMessage(null);
    await ended;
  }

  #open(): ReadingThread {
    const ended = Promise.withResolvers<void>();
    const worker = new Worker(new URL("./chart-reading-thread.ts", import.meta.url), {
      workerData: this.#path,
    });
    worker.unref();
    worker.on("message", ({ id, packed, failure }: ChartAnswer) => {
      const asked = this.#asked.get(id);
      this.#asked.delete(id);
      if (failure === null) asked?.resolve(packed);
      else asked?.reject(errorOf(failure));
    });
    worker.on("error", (thrown) => {
      this.#thread = null;
      const failure = errorOf({
        message: toError(thrown).message,
        sqliteCode: sqliteCodeOf(thrown),
      });
      for (const asked of this.#asked.values()) asked.reject(failure);
      this.#asked.clear();
    });
    worker.on("exit", () => ended.resolve());
    return { worker, ended: ended.promise };
  }
}

function errorOf({ message, sqliteCode }: ChartFailure): Error {
  return sqliteCode === 0 ? new Error(message) : new ChartsDamagedError(message);
}
