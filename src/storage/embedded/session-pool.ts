import type { Session } from "chdb";
import { storeLimits } from "../../base/config/limits.ts";
import { AppError } from "../../base/errors.ts";

/** Connections of the engine, of which each does one thing at a time. First come, first served. */
export class SessionPool {
  readonly #sessions: readonly Session[];
  readonly #idle: Session[];
  readonly #waiting: ((session: Session) => void)[] = [];

  constructor(sessions: readonly Session[]) {
    this.#sessions = sessions;
    this.#idle = [...sessions];
  }

  /** Whether nothing is under way. */
  get isIdle(): boolean {
    return this.#idle.length === this.#sessions.length;
  }

  /** Throws `SERVICE_UNAVAILABLE` when too many are in line. */
  async run<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    const session = this.#idle.pop() ?? (await this.#nextIdle());
    try {
      return await work(session);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#idle.push(session);
      else next(session);
    }
  }

  close(): void {
    for (const session of this.#sessions) session.close();
  }

  /** In line here: waiting in the library would take a thread of those that files are read with. */
  async #nextIdle(): Promise<Session> {
    if (this.#waiting.length >= storeLimits.queriesWaitingMax) {
      throw new AppError("SERVICE_UNAVAILABLE", { retryAfterSeconds: 1 });
    }
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }
}
