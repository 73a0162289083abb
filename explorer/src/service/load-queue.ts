import { wait } from "../../../client/src/backoff.ts";
import { toFailure } from "./failure.ts";

/** Runs tasks in order, a few at a time. It is for data that a page can wait for. A task over the rate limit runs again. */
export class LoadQueue {
  readonly #atOnceMax: number;
  readonly #waiting: (() => Promise<void>)[] = [];
  #running = 0;

  constructor(atOnceMax: number) {
    this.#atOnceMax = atOnceMax;
  }

  add(task: () => Promise<void>): void {
    this.#waiting.push(task);
    void this.#next();
  }

  async #next(): Promise<void> {
    if (this.#running >= this.#atOnceMax) return;
    const task = this.#waiting.shift();
    if (task === undefined) return;
    this.#running += 1;
    const failure = await task().then(() => null, toFailure);
    if (failure?.kind === "limited") {
      this.#waiting.unshift(task);
      await wait(failure.retryMs ?? 0, undefined);
    }
    this.#running -= 1;
    void this.#next();
  }
}
