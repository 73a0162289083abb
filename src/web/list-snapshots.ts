import { randomUUID } from "node:crypto";
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
  readonly #snapshots = new Map<string, Snapshot<Item>>();
  #items = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Keeps a list; the name finds it again, and no other one in whatever process. */
  put(items: readonly Item[]): string {
    const takenAtMs = this.#clock.monotonicMs();
    const name = randomUUID();
    this.#snapshots.set(name, { items, takenAtMs });
    this.#items += items.length;
    this.#forget(takenAtMs);
    return name;
  }

  /** The list of that name; `null` when it is not kept any more. */
  get(name: string): readonly Item[] | null {
    this.#forget(this.#clock.monotonicMs());
    return this.#snapshots.get(name)?.items ?? null;
  }

  #forget(nowMs: number): void {
    const { listSnapshotItemsMax, listSnapshotMaxAgeMs } = webLimits;
    for (const [name, { items, takenAtMs }] of this.#snapshots) {
      const isOld = nowMs - takenAtMs > listSnapshotMaxAgeMs;
      if (!isOld && this.#items <= listSnapshotItemsMax) return;
      this.#snapshots.delete(name);
      this.#items -= items.length;
    }
  }
}
