import { type Seq, toFirstSeq } from "../base/ids.ts";
import type { Coverage } from "../chain/raw-log.ts";
import type { ReorgLog } from "./append/reorg-log.ts";
import type { Engine } from "./engine/engine.ts";

/** The parts of a store. */
export type CoveredParts = {
  readonly engine: Engine;
  readonly coverage: Coverage | null;
  readonly reorgs: ReorgLog;
  readonly repairs: number;
};

/** Returns the first position that is not covered. */
export function firstSeqAbove(coverage: Coverage | null): Seq {
  return toFirstSeq((coverage?.last.number ?? -1) + 1);
}

/**
 * The facts of final blocks, as queries see them: an engine, and the coverage in which its rows are complete. Rows can
 * exist above the coverage, but are never read. `FactStore` also writes facts; `FactReader` follows another process
 * that does.
 */
export class CoveredFacts {
  readonly engine: Engine;
  /** The blocks that were served before they were final and may have been replaced since. */
  readonly reorgs: ReorgLog;
  /** How many repairs of a shared database had begun when it was opened. Copies of a lower number are out of date. */
  readonly repairs: number;
  #coverage: Coverage | null;

  constructor(parts: CoveredParts) {
    this.engine = parts.engine;
    this.reorgs = parts.reorgs;
    this.repairs = parts.repairs;
    this.#coverage = parts.coverage;
  }

  /** The range of committed blocks; `null` before the first append. */
  get coverage(): Coverage | null {
    return this.#coverage;
  }

  /** Extends the coverage, so that queries read the rows of a range. Ranges come in order, without a gap. */
  cover({ fromBlock, last }: Coverage): void {
    this.#coverage = { fromBlock: this.#coverage?.fromBlock ?? fromBlock, last };
  }

  /** Waits for writes of the reorg log and running statements, then closes the engine. */
  async close(): Promise<void> {
    await Promise.allSettled([this.reorgs.pendingWrites]);
    await this.engine.close();
  }
}
