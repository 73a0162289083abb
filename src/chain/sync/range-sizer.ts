import { chainLimits } from "../../base/config/limits.ts";
import type { BlockRange } from "../raw-log.ts";

const steadyAnswersAfterShrinking = 20;
/** One request in five may fail by chance; three in a row of one range hardly do. */
const failuresByChance = 2;
/** Nor are three ranges in a row halved by chance. */
const shrunkByChance = 2;

/** A range that failed and was not answered since. */
type Failed = {
  readonly count: number;
  /** As many as it is asked for next; `null` before its size may be why it fails. */
  readonly blocks: number | null;
  /** How many ranges were answered only after they were halved, when it failed first. */
  readonly shrunkBefore: number;
};

/**
 * How many blocks to ask one endpoint for (R5). Ranges grow by a tenth, halve when refused for their size, and keep
 * to a named cap. Any other failure affects its own range only, until several ranges in a row succeed only when
 * halved.
 */
export class RangeSizer {
  #blocks: number = chainLimits.rangeBlocksStart;
  #cap: { readonly blocks: number; readonly untilMs: number } | null = null;
  readonly #failed = new Map<number, Failed>();
  /** Ranges that were answered only after they were halved, and the blocks of the largest since a larger one was answered. */
  #shrunk = 0;
  #shrunkBlocks = 0;
  /** Of these, how many in a row. */
  #shrunkInRow = 0;
  /** Answers to come before the size grows again. */
  #steadyAnswers = 0;

  /** The size of the next range, at least 1. */
  blocks(nowMs: number): number {
    const cap = this.capBlocks(nowMs) ?? chainLimits.rangeBlocksMax;
    return Math.min(this.#blocks, cap);
  }

  /** The size of the range that begins at `from`: less than of others if it failed before. */
  blocksFrom(from: number, nowMs: number): number {
    return Math.min(this.blocks(nowMs), this.#failed.get(from)?.blocks ?? Number.POSITIVE_INFINITY);
  }

  /** The cap learnt from the provider; `null` when none is known. */
  capBlocks(nowMs: number): number | null {
    return this.#cap !== null && nowMs < this.#cap.untilMs ? this.#cap.blocks : null;
  }

  /** The range was answered with so many bytes. */
  noteAnswer({ from, to }: BlockRange, bytes: number): void {
    const blocks = to - from + 1;
    const failed = this.#failed.get(from);
    this.#failed.delete(from);
    this.#steadyAnswers = Math.max(0, this.#steadyAnswers - 1);
    if (blocks > this.#shrunkBlocks) this.#shrunkInRow = 0;
    if (failed !== undefined && failed.blocks !== null) this.#noteShrunk(blocks, failed);
    if (bytes >= chainLimits.responseBytesHalve) this.halve(blocks);
    else if (this.#steadyAnswers > 0) return;
    else if (blocks >= this.#blocks && bytes < chainLimits.responseBytesGoal) {
      this.#blocks = Math.min(Math.ceil(blocks * 1.1), chainLimits.rangeBlocksMax);
    }
  }

  /** The range failed, by chance or because of its size: only a second failure shows which. */
  noteFailure(range: BlockRange): void {
    const failures = this.#failed.get(range.from)?.count ?? 0;
    if (failures >= failuresByChance) this.shrink(range);
    else this.#remember(range.from, null);
  }

  /** The range got an answer that may be about its size: half of it is asked for next. */
  shrink({ from, to }: BlockRange): void {
    this.#remember(from, Math.max(1, (to - from + 1) >> 1));
  }

  /** The provider refused as many blocks: fewer are asked for from now on. */
  halve(asked: number): void {
    this.#blocks = Math.max(1, Math.min(this.#blocks, Math.floor(asked / 2)));
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

  #remember(from: number, blocks: number | null): void {
    const { count, shrunkBefore } = this.#failed.get(from) ?? {
      count: 0,
      shrunkBefore: this.#shrunk,
    };
    this.#failed.delete(from);
    this.#failed.set(from, { count: count + 1, blocks, shrunkBefore });
    const [oldest] = this.#failed.keys();
    if (this.#failed.size > chainLimits.failedRangesMax && oldest !== undefined) {
      this.#failed.delete(oldest);
    }
  }

  /** Ranges that failed at the same time may have had one reason, which was not their size. */
  #noteShrunk(blocks: number, failed: Failed): void {
    if (this.#shrunkInRow > 0 && failed.shrunkBefore < this.#shrunk) return;
    this.#shrunk += 1;
    this.#shrunkInRow += 1;
    this.#shrunkBlocks = blocks;
    if (this.#shrunkInRow <= shrunkByChance) return;
    this.#blocks = Math.min(this.#blocks, blocks);
    this.#steadyAnswers = steadyAnswersAfterShrinking;
    this.#shrunkInRow = 0;
  }
}
