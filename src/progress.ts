import type { Clock } from "./base/clock.ts";
import type { Log } from "./base/log.ts";

/** Where the indexing stands, as whoever asks for progress sees it. */
export type Standing = {
  readonly indexed: number | null;
  readonly head: number | null;
  readonly fills: number;
};

const reportEveryMs = 5_000;
/** Fewer blocks behind than this is following the head, not catching up. */
const catchingUpBlocksMin = 100;

/**
 * Tells how a long catching up goes: a line that is written over on a terminal, a structured log
 * line elsewhere. Silent while the head is followed.
 */
export class Progress {
  readonly #timer: NodeJS.Timeout;
  readonly #read: () => Standing;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #terminal: NodeJS.WriteStream | null;
  #before: { standing: Standing; atMs: number } | null = null;
  #isShown = false;

  private constructor(options: {
    read: () => Standing;
    clock: Clock;
    log: Log;
    stream: NodeJS.WriteStream;
  }) {
    this.#read = options.read;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#terminal = options.stream.isTTY ? options.stream : null;
    this.#timer = setInterval(() => this.#report(), reportEveryMs);
    this.#timer.unref();
  }

  static start(options: {
    read: () => Standing;
    clock: Clock;
    log: Log;
    stream: NodeJS.WriteStream;
  }): Progress {
    return new Progress(options);
  }

  stop(): void {
    clearInterval(this.#timer);
    if (this.#isShown) this.#terminal?.write("\n");
  }

  #report(): void {
    const standing = this.#read();
    const atMs = this.#clock.monotonicMs();
    const before = this.#before;
    this.#before = { standing, atMs };
    const { indexed, head } = standing;
    if (before === null || before.standing.indexed === null || indexed === null || head === null) {
      return;
    }
    const left = head - indexed;
    if (left < catchingUpBlocksMin) return this.#end();
    const seconds = (atMs - before.atMs) / 1000;
    const blocksPerSecond = (indexed - before.standing.indexed) / seconds;
    this.#show({
      indexed_block: indexed,
      head_block: head,
      blocks_per_second: Math.round(blocksPerSecond),
      fills_per_second: Math.round((standing.fills - before.standing.fills) / seconds),
      seconds_left: blocksPerSecond > 0 ? Math.round(left / blocksPerSecond) : null,
    });
  }

  #show(facts: {
    indexed_block: number;
    head_block: number;
    blocks_per_second: number;
    fills_per_second: number;
    seconds_left: number | null;
  }): void {
    if (this.#terminal === null) {
      this.#log.info(facts, "catching up");
      return;
    }
    const left = facts.seconds_left === null ? "?" : formatSeconds(facts.seconds_left);
    this.#terminal.write(
      `\r\u001B[Kblock ${facts.indexed_block} of ${facts.head_block}, ` +
        `${facts.blocks_per_second} blocks/s, ${facts.fills_per_second} fills/s, ${left} left`,
    );
    this.#isShown = true;
  }

  #end(): void {
    if (this.#isShown) this.#terminal?.write("\r\u001B[Kcaught up with the head\n");
    this.#isShown = false;
  }
}

/** `3700` -> `1 h 1 min`: two units are enough to plan with. */
function formatSeconds(seconds: number): string {
  const units: [number, string][] = [
    [86_400, "d"],
    [3600, "h"],
    [60, "min"],
    [1, "s"],
  ];
  const at = units.findIndex(([size]) => seconds >= size);
  const [largest, next] = [units[at], units[at + 1]];
  if (largest === undefined) return "0 s";
  const first = `${Math.floor(seconds / largest[0])} ${largest[1]}`;
  const rest = next === undefined ? 0 : Math.floor((seconds % largest[0]) / next[0]);
  return next === undefined || rest === 0 ? first : `${first} ${rest} ${next[1]}`;
}
