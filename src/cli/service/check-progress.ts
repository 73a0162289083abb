import type { Clock } from "../../base/time/clock.ts";
import type { BlockRange } from "../../chain/raw-log.ts";
import { formatSeconds } from "../../feed/progress-log.ts";

const terminalEveryMs = 500;
/** The interval when the output is not a terminal, where each report adds a line. */
const lineEveryMs = 10_000;

type Progress = {
  readonly range: BlockRange;
  readonly output: Output;
  readonly clock: Clock;
  /** What is done with blocks: `compared` by default. */
  readonly done?: string;
};

type Output = { readonly isTTY?: boolean; write(text: string): unknown };

/** Reports the number of blocks that are done, the percentage and the time left. */
export class CheckProgress {
  readonly #range: BlockRange;
  readonly #output: Output;
  readonly #clock: Clock;
  readonly #done: string;
  readonly #startedMs: number;
  #reportedMs: number;

  constructor({ range, output, clock, done = "compared" }: Progress) {
    this.#done = done;
    this.#range = range;
    this.#output = output;
    this.#clock = clock;
    this.#startedMs = clock.monotonicMs();
    this.#reportedMs = this.#startedMs;
  }

  reach(block: number): void {
    const nowMs = this.#clock.monotonicMs();
    const isTerminal = this.#output.isTTY === true;
    if (nowMs - this.#reportedMs < (isTerminal ? terminalEveryMs : lineEveryMs)) return;
    this.#reportedMs = nowMs;
    const { from, to } = this.#range;
    const [done, all] = [block - from + 1, to - from + 1];
    const leftMs = ((nowMs - this.#startedMs) / done) * (all - done);
    const percent = (Math.floor((done / all) * 1000) / 10).toFixed(1);
    const remaining = formatSeconds(Math.round(leftMs / 1000));
    const line = `${done} of ${all} blocks ${this.#done} (${percent} %), ${remaining} left`;
    this.#output.write(isTerminal ? `\r\u001B[K${line}` : `${line}\n`);
  }

  /** Clears the line on a terminal, so that results begin on an empty line. */
  clear(): void {
    if (this.#output.isTTY === true) this.#output.write("\r\u001B[K");
  }
}
