import { venueLimits } from "../base/venue-limits.ts";

/**
 * Whether the venue's hashes are as we compute them. It has changed what goes into them before, and
 * says so nowhere: once hashes were wrong many times in a row although the book was right, they are
 * not believed any more. Books then rest on their best prices and on being asked for again.
 */
export class HashTrust {
  #proven = 0;
  #falseAlarms = 0;
  #inARow = 0;
  #isUsable = true;

  get isUsable(): boolean {
    return this.#isUsable;
  }

  /** Hashes of the stream that were right. */
  get proven(): number {
    return this.#proven;
  }

  get falseAlarms(): number {
    return this.#falseAlarms;
  }

  /** A hash of the stream was right. */
  noteProven(): void {
    this.#proven += 1;
    this.#inARow = 0;
  }

  /** A hash was wrong, and the book was right. */
  noteFalseAlarm(): void {
    this.#falseAlarms += 1;
    this.#inARow += 1;
    if (this.#inARow >= venueLimits.bookFalseAlarmsMax) this.#isUsable = false;
  }
}
