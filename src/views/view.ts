import type { Coverage } from "../chain/raw-log.ts";
import type { Delta } from "../market/delta.ts";
import type { CoveredFacts } from "../storage/covered-facts.ts";

/**
 * A read model in memory: a function of the stored facts and of the unfinalized blocks above them. It can be
 * discarded and loaded again. Calls come in chain order. Only `load` is asynchronous.
 */
export type View = {
  /** Applies a stored range of final blocks, or one unfinalized block. */
  apply(delta: Delta): void;
  /** Forgets every block above `toBlock`; only unfinalized blocks are ever reverted. */
  revert(toBlock: number): void;
  /** Marks the blocks up to and including `toBlock` as final: their facts are stored, and none will be reverted. */
  finalize(toBlock: number): void;
  /** Loads the facts up to the end of `coverage` into an empty view, and none that are appended above it meanwhile. */
  load(facts: CoveredFacts, coverage: Coverage): Promise<void>;
};
