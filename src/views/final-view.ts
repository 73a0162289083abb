import type { Delta } from "../market/delta.ts";
import type { CoveredFacts } from "../storage/covered-facts.ts";
import type { Coverage } from "../storage/recover.ts";
import type { View } from "./view.ts";

/** A view of final facts only. Unfinalized blocks wait in it until they are final. */
export abstract class FinalView implements View {
  #pending: readonly Delta[] = [];

  apply(delta: Delta): void {
    if (delta.isFinal) this.applyFinal(delta);
    else this.#pending = [...this.#pending, delta];
  }

  revert(toBlock: number): void {
    this.#pending = this.#pending.filter(({ last }) => last.number <= toBlock);
  }

  finalize(toBlock: number): void {
    const final = this.#pending.filter(({ last }) => last.number <= toBlock);
    this.#pending = this.#pending.slice(final.length);
    for (const delta of final) this.applyFinal(delta);
  }

  abstract load(facts: CoveredFacts, coverage: Coverage): Promise<void>;

  /** Applies a delta that is final. Deltas come oldest first. */
  protected abstract applyFinal(delta: Delta): void;
}
