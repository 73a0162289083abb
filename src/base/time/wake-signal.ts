import type { Clock } from "./clock.ts";

/** Wakes the waiters when something has changed; a change before the wait is not missed. */
export class WakeSignal {
  #version = 0;
  #waiters: (() => void)[] = [];

  /** Rises with every change; taken before looking at the state that one then waits to change. */
  get version(): number {
    return this.#version;
  }

  notify(): void {
    this.#version += 1;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }

  /** Resolves on the first change after `version`, or after `timeoutMs`; rejects once `signal` is aborted. */
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
