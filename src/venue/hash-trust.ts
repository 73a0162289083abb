import { venueLimits } from "../base/config/venue-limits.ts";

/**
 * Whether the venue's hashes can be reproduced. The venue has changed their input before without notice. After many
 * mismatches in a row on correct books, hashes are no longer used. Books are then checked by their best prices and by
 * fetching them again.
 */
export class HashTrust {
  /** Counts since the start, by the names of their metrics. */
  readonly counts = { hashes_proven: 0, false_alarms: 0 };
  #falseAlarmsInRow = 0;
  #isUsable = true;

  get isUsable(): boolean {
    return this.#isUsable;
  }

  noteProven(): void {
    this.counts.hashes_proven += 1;
    this.#falseAlarmsInRow = 0;
  }

  noteFalseAlarm(): void {
    this.counts.false_alarms += 1;
    this.#falseAlarmsInRow += 1;
    if (this.#falseAlarmsInRow >= venueLimits.bookFalseAlarmsMax) this.#isUsable = false;
  }
}
