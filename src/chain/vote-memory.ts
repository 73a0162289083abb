import type { Clock } from "../base/time/clock.ts";
import type { BlockRef } from "./raw-log.ts";
import type { Endpoint } from "./rpc/endpoint.ts";

/**
 * The votes of endpoints in a dispute, one for each endpoint. An endpoint that becomes unreachable during the dispute
 * keeps its vote: its absence proves nothing about its branch.
 */
export class VoteMemory {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #keptMs: number;
  readonly #votes = new Map<Endpoint, { readonly block: BlockRef; readonly atMs: number }>();

  /** A vote counts for `keptMs` after it was last cast. */
  constructor(clock: Pick<Clock, "monotonicMs">, keptMs: number) {
    this.#clock = clock;
    this.#keptMs = keptMs;
  }

  note(endpoint: Endpoint, block: BlockRef): void {
    this.#votes.set(endpoint, { block, atMs: this.#clock.monotonicMs() });
  }

  /** Forgets the vote of an endpoint that was heard again and is not in a dispute. */
  forget(endpoint: Endpoint): void {
    this.#votes.delete(endpoint);
  }

  /** The votes of endpoints that are unreachable now. `isExpired`: the vote is older than `keptMs`. */
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
