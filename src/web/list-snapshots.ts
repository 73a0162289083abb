import type { Clock } from "../base/clock.ts";
import { webLimits } from "../base/limits.ts";

type Snapshot<Item> = { readonly items: readonly Item[]; readonly takenAtMs: number };

/**
 * Lists kept as they were when their first page was asked for. What such a list is ordered by
 * changes all the time, and pages of a list that moves would tell rows twice or never.
 *
 * Bounded by age and by items in all; who comes back too late goes on in the list as it is then.
 */
export class ListSnapshots<Item> {
  readonly #clock: Clock;
  readonly #snapshots = new Map<number, Snapshot<Item>>();
  #items = 0;
  #newest = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Keeps a list; the number finds it again. */
  put(items: readonly Item[]): number {
    const takenAtMs = this.#clock.monotonicMs();
    this.#newest += 1;
    this.#snapshots.set(this.#newest, { items, takenAtMs });
    this.#items += items.length;
    this.#forget(takenAtMs);
    return this.#newest;
  }

  /** The list of that number; `null` when it is not kept any more. */
  get(number: number): readonly Item[] | null {
    this.#forget(this.#clock.monotonicMs());
    return this.#snapshots.get(number)?.items ?? null;
  }

  #forget(nowMs: number): void {
    const { listSnapshotItemsMax, listSnapshotMaxAgeMs } = webLimits;
    for (const [number, { items, takenAtMs }] of this.#snapshots) {
      const isOld = nowMs - takenAtMs > listSnapshotMaxAgeMs;
      if (!isOld && this.#items <= listSnapshotItemsMax) return;
      this.#snapshots.delete(number);
      this.#items -= items.length;
    }
  }
}
