import { randomUUID } from "node:crypto";
import { webLimits } from "../../base/config/limits.ts";
import type { Clock } from "../../base/time/clock.ts";

/** A list of some size, which is freed when it is not kept any more. */
type Sized = { readonly byteLength: number; release(): void };
type Snapshot<List> = { readonly list: List; readonly takenAtMs: number };

/**
 * Lists kept as they were when their first page was asked for. What such a list is ordered by
 * changes all the time, and pages of a list that moves would repeat or skip rows.
 *
 * Bounded by age and by bytes in all, except for the newest; a client that comes back too late continues in
 * the list as it is then.
 */
export class ListSnapshots<List extends Sized> {
  readonly #clock: Clock;
  readonly #snapshots = new Map<string, Snapshot<List>>();
  #bytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Keeps a list; the name finds it again, and no other one in whatever process. */
  put(list: List): string {
    const takenAtMs = this.#clock.monotonicMs();
    const name = randomUUID();
    this.#snapshots.set(name, { list, takenAtMs });
    this.#bytes += list.byteLength;
    this.#forget(takenAtMs);
    return name;
  }

  /** The list of that name; `null` when it is not kept any more. */
  get(name: string): List | null {
    this.#forget(this.#clock.monotonicMs());
    return this.#snapshots.get(name)?.list ?? null;
  }

  #forget(nowMs: number): void {
    const { listSnapshotBytesMax, listSnapshotMaxAgeMs } = webLimits;
    for (const [name, { list, takenAtMs }] of this.#snapshots) {
      const isOld = nowMs - takenAtMs > listSnapshotMaxAgeMs;
      // The newest is about to be read.
      const isWithin = this.#bytes <= listSnapshotBytesMax || this.#snapshots.size === 1;
      if (!isOld && isWithin) return;
      this.#snapshots.delete(name);
      this.#bytes -= list.byteLength;
      list.release();
    }
  }
}
