import type { MeteredEngine } from "./engine/metered-engine.ts";
import type { Coverage } from "./recover.ts";
import type { ReorgLog } from "./reorg-log.ts";

/** What a store is opened with. */
export type CoveredParts = {
  readonly engine: MeteredEngine;
  readonly coverage: Coverage | null;
  readonly reorgs: ReorgLog;
  readonly repairs: number;
};

/**
 * The facts of final blocks, as reads see them: an engine, and the blocks up to which everything in it is complete.
 * Rows above the coverage may be there and are never read. `FactStore` also writes them, `FactReader` follows another
 * process that does.
 */
export class CoveredFacts {
  readonly engine: MeteredEngine;
  /** What was served before it was final, and may have been replaced since. */
  readonly reorgs: ReorgLog;
  /** How many repairs of a shared database had begun when it was opened: copies of an earlier one are out of date. */
  readonly repairs: number;
  #coverage: Coverage | null;
  #appends = 0;

  constructor(parts: CoveredParts) {
    this.engine = parts.engine;
    this.reorgs = parts.reorgs;
    this.repairs = parts.repairs;
    this.#coverage = parts.coverage;
  }

  /** What is stored for good; `null` before the first append. */
  get coverage(): Coverage | null {
    return this.#coverage;
  }

  /** Rises whenever the coverage does. */
  get appends(): number {
    return this.#appends;
  }

  /** Reads find the rows of a range from now on. Ranges come in order, without a gap. */
  cover({ fromBlock, last }: Coverage): void {
    this.#appends += 1;
    this.#coverage = { fromBlock: this.#coverage?.fromBlock ?? fromBlock, last };
  }

  /** Waits for what is under way, then closes the engine. */
  async close(): Promise<void> {
    await Promise.allSettled([this.reorgs.written]);
    await this.engine.close();
  }
}
