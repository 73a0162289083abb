import { streamLimits } from "../base/limits.ts";

type Fork = { readonly rewindTo: number; readonly upTo: number };

/**
 * Which positions have meant something else before. Who comes back with one of them may hold rows
 * of a chain that is gone, and has to go back to where the fork began. What an earlier process told
 * above finality is not known, so everything it can have told counts as one fork.
 */
export class ForkMemory {
  readonly #forks: Fork[] = [];
  #restart: Fork;

  /** `finalSeq` is what this process found stored; -1 for nothing, when nobody was told anything. */
  constructor(finalSeq: number) {
    this.#restart = { rewindTo: finalSeq, upTo: finalSeq < 0 ? -1 : Infinity };
  }

  /** Bounds what an earlier process can have told by the head of the chain at that time. */
  sawHead(seq: number): void {
    const { rewindTo, upTo } = this.#restart;
    if (upTo === Infinity) this.#restart = { rewindTo, upTo: Math.max(rewindTo, seq) };
  }

  /** A fork took back what stood behind `rewindTo`, up to `upTo`. */
  add(rewindTo: number, upTo: number): void {
    this.#forks.push({ rewindTo, upTo });
    const [oldest, next] = this.#forks;
    if (this.#forks.length <= streamLimits.forksRemembered || !oldest || !next) return;
    // Two in place of one: going back too far costs a longer replay, and nothing else.
    const rewind = Math.min(oldest.rewindTo, next.rewindTo);
    this.#forks.splice(0, 2, { rewindTo: rewind, upTo: Math.max(oldest.upTo, next.upTo) });
  }

  /** The position up to which everything that was told at `position` still stands. */
  safePosition(position: number): number {
    const doubtful = [this.#restart, ...this.#forks].filter(
      ({ rewindTo, upTo }) => position > rewindTo && position <= upTo,
    );
    return Math.min(position, ...doubtful.map(({ rewindTo }) => rewindTo));
  }
}
