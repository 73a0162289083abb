import { chainLimits } from "../base/limits.ts";

const steadyAnswersAfterWrong = 20;

/**
 * How many blocks to ask one endpoint for at once (R5): grows by a tenth while answers are small,
 * halves when they are too large, and keeps to the cap the provider named until that is old.
 */
export class RangeSizer {
  #blocks: number = chainLimits.rangeBlocksStart;
  #cap: { readonly blocks: number; readonly untilMs: number } | null = null;
  #hasHalvedOnUnknown = false;
  /** Answers to come before the size grows again. */
  #steadyAnswers = 0;

  /** The size of the next range, at least 1. */
  blocks(nowMs: number): number {
    const cap = this.capBlocks(nowMs) ?? chainLimits.rangeBlocksMax;
    return Math.min(this.#blocks, cap);
  }

  /** The cap learnt from the provider; `null` when none is known. */
  capBlocks(nowMs: number): number | null {
    return this.#cap !== null && nowMs < this.#cap.untilMs ? this.#cap.blocks : null;
  }

  /** A range of `asked` blocks was answered with `bytes`. */
  noteAnswer(asked: number, bytes: number): void {
    this.#hasHalvedOnUnknown = false;
    this.#steadyAnswers = Math.max(0, this.#steadyAnswers - 1);
    if (bytes >= chainLimits.responseBytesHalve) this.halve(asked);
    else if (this.#steadyAnswers > 0) return;
    else if (asked >= this.#blocks && bytes < chainLimits.responseBytesGoal) {
      this.#blocks = Math.min(Math.ceil(asked * 1.1), chainLimits.rangeBlocksMax);
    }
  }

  halve(asked: number): void {
    this.#blocks = Math.max(1, Math.min(this.#blocks, Math.floor(asked / 2)));
  }

  /** `asked` blocks were answered wrong, or not: fewer may be right, and stay so for a while. */
  noteWrong(asked: number): void {
    this.#steadyAnswers = steadyAnswersAfterWrong;
    this.halve(asked);
  }

  /** The provider refused `asked` blocks, naming a number it allows; of no use unless smaller. */
  noteCap(blocks: number, at: { readonly asked: number; readonly nowMs: number }): void {
    if (blocks >= at.asked) {
      this.halve(at.asked);
      return;
    }
    const known = this.capBlocks(at.nowMs) ?? Number.POSITIVE_INFINITY;
    const untilMs = at.nowMs + chainLimits.capKeptMs;
    this.#cap = { blocks: Math.min(known, blocks), untilMs };
    this.#blocks = Math.min(this.#blocks, blocks);
  }

  /** The provider refused `asked` blocks, but says that `blocks` of them would work this time. */
  noteSuggestion(blocks: number, asked: number): void {
    if (blocks < 1 || blocks >= asked) this.halve(asked);
    else this.#blocks = blocks;
  }

  /**
   * An error nobody knows the meaning of: `true` when a smaller range is worth one try. Of ranges
   * that were asked for at the same time, one uses that up for all.
   */
  tryHalvingOnUnknown(asked: number): boolean {
    if (asked === 1) return false;
    if (asked > this.#blocks) return true;
    if (this.#hasHalvedOnUnknown) return false;
    this.#hasHalvedOnUnknown = true;
    this.noteWrong(asked);
    return true;
  }
}
