import { randomUUID } from "node:crypto";
import { webLimits } from "../../base/config/limits.ts";
import type { Clock } from "../../base/time/clock.ts";

/** A list with a size in bytes. `release` is called when it is evicted. */
type Sized = { readonly byteLength: number; release(): void };
type Snapshot<List> = { readonly list: List; readonly putAtMs: number };

/**
 * Lists as they were when their first page was requested. The values that order such a list change all the time, so
 * pages of a live list would repeat or skip rows.
 *
 * Lists are evicted by age and by total bytes, but the newest one only by age. A client that returns after that
 * continues in the list of that moment.
 */
export class ListSnapshots<List extends Sized> {
  readonly #clock: Clock;
  readonly #snapshots = new Map<string, Snapshot<List>>();
  #bytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Keeps a list and returns its name, which is unique across processes. */
  put(list: List): string {
    const putAtMs = this.#clock.monotonicMs();
    const name = randomUUID();
    this.#snapshots.set(name, { list, putAtMs });
    this.#bytes += list.byteLength;
    this.#forget(putAtMs);
    return name;
  }

  /** Returns the list with this name; `null` if it was evicted. */
  get(name: string): List | null {
    this.#forget(this.#clock.monotonicMs());
    return this.#snapshots.get(name)?.list ?? null;
  }

  #forget(nowMs: number): void {
    const { listSnapshotBytesMax, listSnapshotMaxAgeMs } = webLimits;
    for (const [name, { list, putAtMs }] of this.#snapshots) {
      const isOld = nowMs - putAtMs > listSnapshotMaxAgeMs;
      // The newest list is about to be read.
      const isWithin = this.#bytes <= listSnapshotBytesMax || this.#snapshots.size === 1;
      if (!isOld && isWithin) return;
      this.#snapshots.delete(name);
      this.#bytes -= list.byteLength;
      list.release();
    }
  }
}
