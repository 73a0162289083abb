import { storeLimits } from "../../base/config/limits.ts";
import { AppError } from "../../base/errors.ts";

/** Connections of an engine, each of which runs one statement at a time. First come, first served. */
export class ConnectionPool<Connection> {
  readonly #size: number;
  readonly #waitingMax: number;
  readonly #idle: Connection[];
  readonly #waiting: ((connection: Connection) => void)[] = [];
  #allIdle: PromiseWithResolvers<void> | null = null;
  #isClosed = false;

  constructor(
    connections: readonly Connection[],
    { waitingMax = storeLimits.queriesWaitingMax }: { readonly waitingMax?: number } = {},
  ) {
    this.#size = connections.length;
    this.#waitingMax = waitingMax;
    this.#idle = [...connections];
  }

  /** Runs work on an idle connection. Throws `SERVICE_UNAVAILABLE` when too many calls wait for one. */
  async run<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> {
    if (this.#isClosed) throw new Error("the engine is closed");
    const connection = this.#idle.pop() ?? (await this.#nextIdle());
    try {
      return await work(connection);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#idle.push(connection);
      else next(connection);
      if (this.#isIdle) {
        this.#allIdle?.resolve();
        this.#allIdle = null;
      }
    }
  }

  /** Resolves when no call runs or waits. Later calls of `run` throw. */
  async close(): Promise<void> {
    while (!this.#isIdle) {
      this.#allIdle ??= Promise.withResolvers();
      await this.#allIdle.promise;
    }
    this.#isClosed = true;
  }

  get #isIdle(): boolean {
    return this.#idle.length === this.#size;
  }

  /** Waits for a connection. The queue is here because it is bounded; the queue of a library is not. */
  async #nextIdle(): Promise<Connection> {
    if (this.#waiting.length >= this.#waitingMax) {
      throw new AppError("SERVICE_UNAVAILABLE", { retryAfterSeconds: 1 });
    }
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }
}
