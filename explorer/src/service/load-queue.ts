/** Runs tasks in order, a few at a time. It is for data that a page can wait for. */
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
    await task().catch(() => {});
    this.#running -= 1;
    void this.#next();
  }
}
