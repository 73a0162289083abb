import { Worker } from "node:worker_threads";

/** How long the log of a database is, and how much of it the database has. */
export type WalProgress = { readonly pages: number; readonly copied: number };

/**
 * Brings what was committed from the log of a database into it on a thread of its own, which is
 * there for as long as that takes: hundreds of megabytes, written and synced, are seconds.
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

  /** How far the last one came. */
  get progress(): WalProgress {
    return this.#progress;
  }

  /** Starts one, if none is under way. What fails in it is left for the next. */
  start(): void {
    if (this.#worker !== null) return;
    const worker = new Worker(new URL("./wal-checkpoint-thread.ts", import.meta.url), {
      workerData: this.#path,
    });
    this.#worker = worker;
    // The pages stay in the log, where they are as safe, and a full disk fails the commits.
    worker.on("error", () => {});
    worker.on("message", (progress: WalProgress) => {
      this.#progress = progress;
    });
    worker.on("exit", () => {
      this.#worker = null;
    });
    worker.unref();
  }

  /** Takes note that the log was brought in otherwise. */
  settle(): void {
    this.#progress = { pages: 0, copied: 0 };
  }

  /** Leaves one that is under way to end on its own or with the process. */
  close(): void {
    void this.#worker?.terminate();
  }
}
