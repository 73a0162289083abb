import type { Clock } from "./clock.ts";

/** Wakes waiters when something changes. A change between reading `version` and waiting is not missed. */
export class WakeSignal {
  #version = 0;
  #waiters: (() => void)[] = [];

  /** Increases with every change. Read it before the state whose next change to wait for. */
  get version(): number {
    return this.#version;
  }

  notify(): void {
    this.#version += 1;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }

  async next(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiters.push(resolve);
    });
  }

  /** Resolves at the first change after `version`, or after `timeoutMs`. Rejects when `signal` is aborted. */
  async wait(
    version: number,
    timeoutMs: number,
    { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  ): Promise<void> {
    signal.throwIfAborted();
    if (this.#version !== version) return;
    const timer = new AbortController();
    const stop = () => timer.abort();
    this.#waiters.push(stop);
    signal.addEventListener("abort", stop, { once: true });
    await clock.sleep(timeoutMs, timer.signal).catch(() => {});
    signal.removeEventListener("abort", stop);
    this.#waiters = this.#waiters.filter((waiter) => waiter !== stop);
    signal.throwIfAborted();
  }
}
