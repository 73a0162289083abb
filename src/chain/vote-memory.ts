import type { Clock } from "../base/time/clock.ts";
import type { BlockRef } from "./raw-log.ts";
import type { Endpoint } from "./rpc/endpoint.ts";

/**
 * What endpoints answered when they disagreed. An endpoint that becomes unreachable in the middle of a
 * dispute keeps its vote: its absence proves nothing about its branch. One vote for each endpoint.
 */
export class VoteMemory {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #keptMs: number;
  readonly #votes = new Map<Endpoint, { readonly block: BlockRef; readonly atMs: number }>();

  /** Votes count for `keptMs` after they were cast last. */
  constructor(clock: Pick<Clock, "monotonicMs">, keptMs: number) {
    this.#clock = clock;
    this.#keptMs = keptMs;
  }

  note(endpoint: Endpoint, block: BlockRef): void {
    this.#votes.set(endpoint, { block, atMs: this.#clock.monotonicMs() });
  }

  /** The endpoint has been heard again, and there is no dispute. */
  forget(endpoint: Endpoint): void {
    this.#votes.delete(endpoint);
  }

  /** The votes of endpoints that cannot be asked now, and whether they are older than the time for which they count. */
  absent() {
    const nowMs = this.#clock.monotonicMs();
    return [...this.#votes]
      .filter(([endpoint]) => !endpoint.isReachable && endpoint.refusal === null)
      .map(([endpoint, { block, atMs }]) => ({
        endpoint,
        block,
        isExpired: nowMs - atMs > this.#keptMs,
      }));
  }
}
