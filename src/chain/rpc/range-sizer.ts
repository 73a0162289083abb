import { chainLimits } from "../../base/config/limits.ts";
import type { BlockRange } from "../raw-log.ts";

const steadyAnswersAfterShrinking = 20;
/** Up to one request in five can fail by chance, but one range rarely fails three times in a row by chance. */
const failuresByChance = 2;
/** Three ranges in a row are rarely halved by chance. */
const shrunkByChance = 2;

/** A range that failed and has not been answered since. */
type Failed = {
  readonly count: number;
  /** How many blocks of it to ask for next; `null` while its size is not the suspected reason. */
  readonly blocks: number | null;
  /** The value of `#shrunk` when it first failed. */
  readonly shrunkBefore: number;
};

/**
 * Decides how many blocks to ask one endpoint for (R5). Ranges grow by a tenth, halve when refused for their size, and
 * stay within a cap that the provider names. Other failures only affect the range that failed, until several ranges in
 * a row succeed only after they were halved.
 */
export class RangeSizer {
  #blocks: number = chainLimits.rangeBlocksStart;
  #cap: { readonly blocks: number; readonly untilMs: number } | null = null;
  readonly #failed = new Map<number, Failed>();
  /** How many ranges were answered only after they were halved, and the blocks of the last one. */
  #shrunk = 0;
  #shrunkBlocks = 0;
  /** How many of these in a row, without an answer for more blocks in between. */
  #shrunkInRow = 0;
  /** How many more answers must come before the size grows again. */
  #steadyAnswers = 0;

  /** The size of the next range, at least 1. */
  blocks(nowMs: number): number {
    const cap = this.capBlocks(nowMs) ?? chainLimits.rangeBlocksMax;
    return Math.min(this.#blocks, cap);
  }

  /** The size of the range that begins at `from`: smaller than others if it failed before. */
  blocksFrom(from: number, nowMs: number): number {
    return Math.min(this.blocks(nowMs), this.#failed.get(from)?.blocks ?? Number.POSITIVE_INFINITY);
  }

  /** The cap learned from the provider; `null` when none is known. */
  capBlocks(nowMs: number): number | null {
    return this.#cap !== null && nowMs < this.#cap.untilMs ? this.#cap.blocks : null;
  }

  /** Records that the range was answered with so many bytes. */
  recordAnswer({ from, to }: BlockRange, bytes: number): void {
    const blocks = to - from + 1;
    const failed = this.#failed.get(from);
    this.#failed.delete(from);
    this.#steadyAnswers = Math.max(0, this.#steadyAnswers - 1);
    if (blocks > this.#shrunkBlocks) this.#shrunkInRow = 0;
    if (failed !== undefined && failed.blocks !== null) this.#recordShrunk(blocks, failed);
    if (bytes >= chainLimits.responseBytesHalve) this.halve(blocks);
    else if (this.#steadyAnswers > 0) return;
    else if (blocks >= this.#blocks && bytes < chainLimits.responseBytesGoal) {
      this.#blocks = Math.min(Math.ceil(blocks * 1.1), chainLimits.rangeBlocksMax);
    }
  }

  /** Records a failure that can be by chance. From the third in a row on, the range is taken to be too large. */
  recordFailure(range: BlockRange): void {
    const failures = this.#failed.get(range.from)?.count ?? 0;
    if (failures >= failuresByChance) this.shrink(range);
    else this.#remember(range.from, null);
  }

  /** Records an answer that can be about the size of the range: half of it is asked for next. */
  shrink({ from, to }: BlockRange): void {
    this.#remember(from, Math.max(1, (to - from + 1) >> 1));
  }

  /** Records that the provider refused `requested` blocks. Ranges are at most half as large from now on. */
  halve(requested: number): void {
    this.#blocks = Math.max(1, Math.min(this.#blocks, Math.floor(requested / 2)));
  }

  /** Records that the provider refused `requested` blocks and named a cap. A cap that is not smaller halves the range. */
  recordCap(blocks: number, at: { readonly requested: number; readonly nowMs: number }): void {
    if (blocks >= at.requested) {
      this.halve(at.requested);
      return;
    }
    const current = this.capBlocks(at.nowMs) ?? Number.POSITIVE_INFINITY;
    const untilMs = at.nowMs + chainLimits.capKeptMs;
    this.#cap = { blocks: Math.min(current, blocks), untilMs };
    this.#blocks = Math.min(this.#blocks, blocks);
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

  /** Counts ranges that failed at the same time once: they can have one reason, which is not their size. */
  #recordShrunk(blocks: number, failed: Failed): void {
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
