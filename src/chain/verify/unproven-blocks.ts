import type { ChainContext } from "../chain-context.ts";
import type { BlockRef } from "../raw-log.ts";

/** How often and how long a block is tried: a node indexes a new block within seconds. */
const triesMin = 3;
const waitMs = 10_000;
/** The same when requests for a proof failed: outages and rate limits mostly end sooner. */
const outageMs = 60_000;
/** How long after such a block the next ones are tried `triesMin` times only. */
const keptMs = 300_000;
/** Blocks remembered of each kind. More than a few are not tried at the same time. */
const blocksMax = 256;

/**
 * Blocks whose logs no way of reading them can prove. Each is tried again for a while, since a node can be indexing it.
 * Then it is accepted as `eth_getLogs` returned it: faults of other contracts' logs must not stop indexing for good.
 */
export class UnprovenBlocks {
  readonly #context: ChainContext;
  readonly #waiting = new Map<string, { readonly sinceMs: number; tries: number }>();
  readonly #accepted = new Set<number>();
  #acceptedAtMs = Number.NEGATIVE_INFINITY;

  constructor(context: ChainContext) {
    this.#context = context;
  }

  /** The numbers of the blocks accepted last, for the audit. */
  get numbers(): readonly number[] {
    return [...this.#accepted];
  }

  /**
   * Records that a block could not be proven, and returns whether to accept it now. `isConclusive`: every way was
   * answered, so that waiting longer will hardly help.
   */
  isAccepted({ number, hash }: BlockRef, isConclusive: boolean): boolean {
    const nowMs = this.#context.clock.monotonicMs();
    const waiting = this.#waiting.get(hash) ?? { sinceMs: nowMs, tries: 0 };
    waiting.tries += 1;
    this.#waiting.set(hash, waiting);
    const waitedMs = nowMs - waiting.sinceMs;
    if (waiting.tries < triesMin || waitedMs < this.#waitMs(isConclusive)) {
      dropOldest(this.#waiting);
      return false;
    }
    this.#waiting.delete(hash);
    this.#acceptedAtMs = nowMs;
    if (this.#accepted.has(number)) return true;
    this.#accepted.add(number);
    dropOldest(this.#accepted);
    this.#context.log.warn(
      { block: number, hash, seconds: Math.round(waitedMs / 1_000) },
      "no endpoint can prove the logs of a block; it is stored as eth_getLogs returned it, and audited again",
    );
    return true;
  }

  /** Where one block could not be proven, the next ones cannot be either: waiting for each would fall behind. */
  #waitMs(isConclusive: boolean): number {
    if (!isConclusive) return outageMs;
    const sinceMs = this.#context.clock.monotonicMs() - this.#acceptedAtMs;
    return sinceMs < keptMs ? 0 : waitMs;
  }
}

function dropOldest(collection: Map<string, unknown> | Set<number>): void {
  if (collection.size <= blocksMax) return;
  for (const oldest of collection.keys()) {
    (collection as { delete(key: unknown): boolean }).delete(oldest);
    return;
  }
}
