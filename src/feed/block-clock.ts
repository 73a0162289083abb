import type { Log } from "../base/log.ts";
import type { Clock } from "../base/time/clock.ts";

/** The blocks that are compared: 30 to 40 s of Polygon, so that a late node or a pause of this process passes. */
const blocksCompared = 20;
/** A block reaches every node within seconds. Its time can be a few seconds ahead of its announcement. */
const lateSecondsMax = 30;
const earlySecondsMax = 10;

/** Compares the clock of this machine with the times of the newest blocks when they arrive. */
export class BlockClock {
  readonly #clock: Pick<Clock, "nowMs">;
  readonly #log: Log;
  /** The age of each of the newest blocks on arrival, in milliseconds. */
  #agesMs: readonly number[] = [];
  #hasWarned = false;

  constructor(clock: Pick<Clock, "nowMs">, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Takes in the time of a block, in unix seconds, that has just arrived and is the newest that is known. */
  observe(timestamp: number): void {
    const ageMs = this.#clock.nowMs() - timestamp * 1000;
    this.#agesMs = [...this.#agesMs, ageMs].slice(-blocksCompared);
    const seconds = this.#differenceSeconds;
    if (seconds !== 0 && !this.#hasWarned)
      this.#log.warn({ seconds }, "system clock differs from the times of new blocks; check NTP");
    else if (seconds === 0 && this.#hasWarned)
      this.#log.info("system clock agrees with the times of new blocks again");
    this.#hasWarned = seconds !== 0;
  }

  /** The smallest age of a block on arrival among the newest, in milliseconds; `null` until there are enough. */
  get ageMs(): number | null {
    return this.#agesMs.length < blocksCompared ? null : Math.min(...this.#agesMs);
  }

  /** One sentence for readiness. */
  get detail(): string {
    const seconds = this.#differenceSeconds;
    if (seconds > 0) return `${seconds} s ahead of the newest blocks, or all of them arrive late`;
    if (seconds < 0) return `${-seconds} s behind the newest blocks`;
    return this.ageMs === null ? "not compared with blocks yet" : "agrees with the times of blocks";
  }

  /** How far the clock is ahead of the blocks, in seconds; negative behind them, 0 within the bounds. */
  get #differenceSeconds(): number {
    const seconds = Math.round((this.ageMs ?? 0) / 1000);
    return seconds > lateSecondsMax || seconds < -earlySecondsMax ? seconds : 0;
  }
}
