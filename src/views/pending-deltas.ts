import type { Delta } from "../market/delta.ts";

/** What was applied and can still be reverted, for views that show final facts only. */
export class PendingDeltas {
  #deltas: readonly Delta[] = [];

  add(delta: Delta): void {
    this.#deltas = [...this.#deltas, delta];
  }

  revert(toBlock: number): void {
    this.#deltas = this.#deltas.filter(({ last }) => last.number <= toBlock);
  }

  /** Takes out those up to a block, which are final from now on, oldest first. */
  take(toBlock: number): readonly Delta[] {
    const final = this.#deltas.filter(({ last }) => last.number <= toBlock);
    this.#deltas = this.#deltas.filter(({ last }) => last.number > toBlock);
    return final;
  }
}
