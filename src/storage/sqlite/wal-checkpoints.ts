import { Worker } from "node:worker_threads";

/** The pages in the write-ahead log (WAL) of a database, and how many of them are copied into the database. */
export type WalProgress = { readonly pages: number; readonly copied: number };

/**
 * Checkpoints the write-ahead log of a database on a separate thread, started for each checkpoint: to write
 * and sync hundreds of megabytes takes seconds.
 */
export class WalCheckpoints {
  readonly #path: string;
  #worker: Worker | null = null;
  #progress: WalProgress = { pages: 0, copied: 0 };

  constructor(path: string) {
    this.#path = path;
  }

  get isBusy(): boolean {
    return this.#worker !== null;
  }

  /** The result of the last checkpoint. */
  get progress(): WalProgress {
    return this.#progress;
  }

  /** Starts a checkpoint, unless one is under way. The next checkpoint covers what a failed one did not. */
  start(): void {
    if (this.#worker !== null) return;
    const worker = new Worker(new URL("./wal-checkpoint-thread.ts", import.meta.url), {
      workerData: this.#path,
    });
    this.#worker = worker;
    // After a failure the pages remain in the log, which is as durable. A full disk also fails the commits.
    worker.on("error", () => {});
    worker.on("message", (progress: WalProgress) => {
      this.#progress = progress;
    });
    worker.on("exit", () => {
      this.#worker = null;
    });
    worker.unref();
  }

  /** Resets the progress, after a checkpoint that was made elsewhere. */
  settle(): void {
    this.#progress = { pages: 0, copied: 0 };
  }

  /** Terminates the thread of a checkpoint that is under way, without waiting for it. */
  close(): void {
    void this.#worker?.terminate();
  }
}
