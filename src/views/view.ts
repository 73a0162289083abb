import type { Delta } from "../market/delta.ts";
import type { CoveredFacts } from "../storage/covered-facts.ts";
import type { Coverage } from "../storage/recover.ts";

/**
 * A read model in memory: a function of the stored facts and of the unfinalized blocks above them. It can be
 * thrown away and loaded again. Calls come in chain order; none of them but `load` waits.
 */
export type View = {
  /** Takes in a stored range of final blocks, or one unfinalized block. */
  apply(delta: Delta): void;
  /** Forgets every block above `toBlock`; only unfinalized blocks are ever reverted. */
  revert(toBlock: number): void;
  /** Nothing at or below `toBlock` will be reverted; its facts are stored. */
  finalize(toBlock: number): void;
  /** Makes an empty view that of the facts up to the end of `coverage`, whatever is appended above meanwhile. */
  load(facts: CoveredFacts, coverage: Coverage): Promise<void>;
};
