import type { ConditionId } from "../base/ids.ts";
import { type Journal, JournaledMap } from "./journal.ts";
import type { Resolution } from "./market.ts";

/** How conditions ended: the first result of each counts, all of them stand in chain order. */
export class ResolutionLog {
  readonly #journal: Journal;
  readonly #byCondition: JournaledMap<ConditionId, Resolution>;
  /** By position, then condition: several results can follow from one log. */
  readonly #ordered: Resolution[] = [];

  constructor(journal: Journal) {
    this.#journal = journal;
    this.#byCondition = new JournaledMap(journal);
  }

  of(conditionId: ConditionId): Resolution | null {
    return this.#byCondition.get(conditionId) ?? null;
  }

  /** All results, oldest first. */
  get ordered(): readonly Resolution[] {
    return this.#ordered;
  }

  /** Where a result stands, or would stand, in `ordered`. */
  indexOf(place: Pick<Resolution, "seq" | "conditionId">): number {
    let [low, high] = [0, this.#ordered.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#ordered[middle];
      if (other !== undefined && isBefore(other, place)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Adds a result unless the condition has one: a module may log again what already followed. */
  add(resolution: Resolution): void {
    if (this.of(resolution.conditionId) !== null) return;
    this.#byCondition.set(resolution.conditionId, resolution);
    this.#ordered.splice(this.indexOf(resolution), 0, resolution);
    this.#journal.note(() => this.#ordered.splice(this.indexOf(resolution), 1));
  }
}

function isBefore(
  a: Pick<Resolution, "seq" | "conditionId">,
  b: Pick<Resolution, "seq" | "conditionId">,
): boolean {
  return a.seq === b.seq ? a.conditionId < b.conditionId : a.seq < b.seq;
}
