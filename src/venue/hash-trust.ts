import { venueLimits } from "../base/config/venue-limits.ts";

/**
 * Whether the venue's hashes can be reproduced. The venue has changed their input before without
 * notice. After many mismatches in a row on correct books, hashes are no longer used; books are then
 * checked by their best prices and by fetching them again.
 */
export class HashTrust {
  #proven = 0;
  #falseAlarms = 0;
  #inARow = 0;
  #isUsable = true;

  get isUsable(): boolean {
    return this.#isUsable;
  }

  get proven(): number {
    return this.#proven;
  }

  get falseAlarms(): number {
    return this.#falseAlarms;
  }

  noteProven(): void {
    this.#proven += 1;
    this.#inARow = 0;
  }

  noteFalseAlarm(): void {
    this.#falseAlarms += 1;
    this.#inARow += 1;
    if (this.#inARow >= venueLimits.bookFalseAlarmsMax) this.#isUsable = false;
  }
}
